"""What a checkpoint is, as a value and as text.

Imports: errors, format, spark_log, state, storage, text.
"""
