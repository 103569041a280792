"""Spark's data types and the schemas of state, as Spark keeps them in a checkpoint.

Imports: errors, format, spark_log, storage, text.
"""
