"""How the rows of a store are shown as tables: which tables there are, and their columns.

Imports: format, rows, schema, spark_log, state, storage.
"""
