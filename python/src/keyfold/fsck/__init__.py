"""Looks for damage in a checkpoint.

Imports: errors, format, rows, schema, spark_log, state, storage, table, text.
"""
