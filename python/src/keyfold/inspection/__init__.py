"""Tables of metadata about the state.

Imports: errors, format, layout, rows, spark_log, state, storage, table, text.
"""
