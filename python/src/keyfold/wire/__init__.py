"""The bytes of the format: bounded reading of integers and strings, and codecs.

Imports: nothing.
"""
