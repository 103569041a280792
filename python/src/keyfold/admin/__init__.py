"""Operations that change a checkpoint. Keyfold's Scala code does them, with Spark's own classes.

Imports: errors, session, spark_log, text.
"""
