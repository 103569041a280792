"""A state file: its parts, byte by byte, and how it is read.

Imports: errors.
"""
