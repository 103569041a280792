package org.apache.spark.sql.keyfold

import org.apache.spark.sql.execution.streaming

/** Spark's classes and objects that tests use and whose packages changed with Spark 4.1. */
object TestNames {
  type FileContextBasedCheckpointFileManager = streaming.FileContextBasedCheckpointFileManager
  type FileSystemBasedCheckpointFileManager = streaming.FileSystemBasedCheckpointFileManager

  val MemoryStream: SparkShim.MemoryStream.type = SparkShim.MemoryStream
}
