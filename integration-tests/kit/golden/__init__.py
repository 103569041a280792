"""The golden files as plain data, and an encoder that shares no code with the readers."""
