"""State as tables: an operator's stores and state variables, looked up, scanned and compared.

Imports: errors, format, layout, rows, schema, spark_log, state, storage, text, wire.
"""
