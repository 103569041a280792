"""Whether a Spark session is set up to run queries on Keyfold.

Imports: errors, session, settings, text.
"""
