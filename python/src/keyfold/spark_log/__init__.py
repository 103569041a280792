"""Spark's own files in a checkpoint.

Imports: errors, format, settings, storage, text.
"""
