"""What Spark itself writes into a checkpoint.

Imports: errors, format, settings, storage, text.
"""
