package org.apache.spark.sql.keyfold

import org.apache.spark.sql.{Encoder, SparkSession}
import org.apache.spark.sql.execution.streaming

/** Spark's classes and objects that tests use and whose packages changed with Spark 4.1. */
object TestNames {
  type FileContextBasedCheckpointFileManager = streaming.FileContextBasedCheckpointFileManager
  type FileSystemBasedCheckpointFileManager = streaming.FileSystemBasedCheckpointFileManager

  /** Later lines make them of sessions. */
  object MemoryStream {
    def apply[A: Encoder](session: SparkSession): streaming.MemoryStream[A] =
      streaming.MemoryStream[A](implicitly[Encoder[A]], session.sqlContext)
  }
}
