"""The command `keyfold`.

Imports: _version, admin, checkpoint, errors, session, setup, spark_log, storage, table, text,
watch.
"""
