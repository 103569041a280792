package org.apache.spark.sql.keyfold

import org.apache.spark.sql.execution.streaming.{checkpointing, runtime}

/** Spark's classes and objects that tests use and whose packages changed with Spark 4.1. */
object TestNames {
  type FileContextBasedCheckpointFileManager = checkpointing.FileContextBasedCheckpointFileManager
  type FileSystemBasedCheckpointFileManager = checkpointing.FileSystemBasedCheckpointFileManager

  def MemoryStream: runtime.MemoryStream.type = runtime.MemoryStream
}
