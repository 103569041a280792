"""Charts of a checkpoint, and the page that shows them.

Imports: describe, errors, format, inspection, spark_log, state, storage, text.
"""
