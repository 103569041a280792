"""A version of one partition's store, put together from its files.

Imports: errors, format, rows, spark_log, storage.
"""
