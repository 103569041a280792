"""Looks for damage in a checkpoint.

Imports: errors, format, layout, rows, schema, spark_log, state, storage, subtasks, text, wire.
"""
