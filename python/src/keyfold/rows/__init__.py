"""Rows of state to Arrow columns, and the hash that places them (docs/FORMAT.md, section 5).

Imports: errors, schema, text, wire.
"""
