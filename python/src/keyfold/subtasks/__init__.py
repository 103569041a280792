"""State of an operator's subtasks: lists that are split or united, and maps that are copied.

Imports: errors, flink, rows, session.
"""
