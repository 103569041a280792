"""What the state consists of, as tables of metadata.

Imports: describe, errors, format, rows, spark_log, state, storage, table, text.
"""
