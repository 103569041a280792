"""Loads a version of one partition's store from its files.

Imports: errors, format, rows, spark_log, storage.
"""
