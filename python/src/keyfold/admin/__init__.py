"""What changes a checkpoint: done by Keyfold's Scala side, through Spark's own classes.

Imports: errors, session, text.
"""
