"""Spark's data types, and its schema files in a checkpoint.

Imports: errors, format, spark_log, storage, text, wire.
"""
