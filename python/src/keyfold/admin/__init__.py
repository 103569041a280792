"""Operations that change a checkpoint. Keyfold's Scala code does them, with Spark's own classes.

Imports: errors, flink, session, sinks, spark_log, storage, subtasks, text.
"""
