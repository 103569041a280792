"""A checkpoint that is watched while its query runs, in a terminal, a pipe or a notebook.

Imports: describe, errors, format, report, spark_log, state, storage, text.
"""
