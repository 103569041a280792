"""The command `keyfold`."""
