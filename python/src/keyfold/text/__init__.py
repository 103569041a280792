"""Values as text, for terminals and notebooks.

Imports: nothing.
"""
