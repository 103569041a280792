package org.apache.spark.sql.keyfold

import org.apache.spark.sql.{Encoder, SparkSession}
import org.apache.spark.sql.execution.streaming

/** Spark's classes and objects whose packages changed with Spark 4.1. */
private[keyfold] trait SparkNames {
  type CheckpointFileManager = streaming.CheckpointFileManager
  type FileManagerWithoutReplace = streaming.FileSystemBasedCheckpointFileManager
  type CancellableStream = streaming.CheckpointFileManager.CancellableFSDataOutputStream
  type OffsetSeqLog = streaming.OffsetSeqLog
  type OffsetSeq = streaming.OffsetSeq
  type OffsetSeqMetadata = streaming.OffsetSeqMetadata
  type CommitLog = streaming.CommitLog
  type CommitMetadata = streaming.CommitMetadata
  type FileStreamSinkLog = streaming.FileStreamSinkLog
  type StatefulOperator = streaming.StatefulOperator
  type QueryWrapper = streaming.StreamingQueryWrapper
  type StateStoreWriter = streaming.StateStoreWriter
  type StatefulOperatorStateInfo = streaming.StatefulOperatorStateInfo
  type TransformWithStateExec = streaming.TransformWithStateExec

  /** Later lines make them of sessions. */
  object MemoryStream {
    def apply[A: Encoder](session: SparkSession): streaming.MemoryStream[A] =
      streaming.MemoryStream[A](implicitly[Encoder[A]], session.sqlContext)
  }

  def CheckpointFileManager = streaming.CheckpointFileManager
  def OffsetSeqMetadata = streaming.OffsetSeqMetadata
  def CommitMetadata = streaming.CommitMetadata
  def MetadataVersionUtil = streaming.MetadataVersionUtil
  def FileStreamSink = streaming.FileStreamSink
  def FileStreamSinkLog = streaming.FileStreamSinkLog
  def StreamExecution = streaming.StreamExecution
  def StreamMetadata = streaming.StreamMetadata
  def StatefulOperatorStateInfo = streaming.StatefulOperatorStateInfo
  def StateVariableType = streaming.StateVariableType
  def TransformWithStateOperatorProperties = streaming.TransformWithStateOperatorProperties
}
