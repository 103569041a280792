"""Describes a checkpoint, as a value and as text.

Imports: errors, format, schema, spark_log, state, storage, subtasks, text.
"""
