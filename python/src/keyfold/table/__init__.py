"""State as tables: an operator's stores and state variables, looked up, scanned and compared.

Imports: errors, format, rows, schema, spark_log, state, storage, text.
"""
