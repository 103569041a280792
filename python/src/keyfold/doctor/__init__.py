"""Advice about a checkpoint: what is ill with it, what to change, and what that brings.

Imports: describe, errors, format, inspection, settings, spark_log, state, storage, subtasks, text.
"""
