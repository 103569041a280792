"""The command `keyfold`.

Imports: _version, admin, checkpoint, errors, table, text.
"""
