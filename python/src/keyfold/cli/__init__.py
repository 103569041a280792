"""The command `keyfold`.

Imports: _version, admin, checkpoint, errors, session, setup, table, text.
"""
