package org.apache.spark.sql.keyfold

import org.apache.spark.sql.execution.streaming.operators.stateful
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate
import org.apache.spark.sql.execution.streaming.{checkpointing, runtime, sinks}

/** Spark's classes and objects whose packages changed with Spark 4.1. */
private[keyfold] trait SparkNames {
  type CheckpointFileManager = checkpointing.CheckpointFileManager
  type FileManagerWithoutReplace = checkpointing.FileSystemBasedCheckpointFileManager
  type CancellableStream = checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
  type OffsetSeqLog = checkpointing.OffsetSeqLog
  type OffsetSeq = checkpointing.OffsetSeq
  type OffsetSeqMetadata = checkpointing.OffsetSeqMetadata
  type CommitLog = checkpointing.CommitLog
  type CommitMetadata = checkpointing.CommitMetadata
  type FileStreamSinkLog = sinks.FileStreamSinkLog
  type StatefulOperator = stateful.StatefulOperator
  type QueryWrapper = runtime.StreamingQueryWrapper
  type StateStoreWriter = stateful.StateStoreWriter
  type StatefulOperatorStateInfo = stateful.StatefulOperatorStateInfo
  type TransformWithStateExec = transformwithstate.TransformWithStateExec

  def MemoryStream = runtime.MemoryStream
  def CheckpointFileManager = checkpointing.CheckpointFileManager
  def OffsetSeqMetadata = checkpointing.OffsetSeqMetadata
  def CommitMetadata = checkpointing.CommitMetadata
  def MetadataVersionUtil = checkpointing.MetadataVersionUtil
  def FileStreamSink = sinks.FileStreamSink
  def FileStreamSinkLog = sinks.FileStreamSinkLog
  def StreamExecution = runtime.StreamExecution
  def StreamMetadata = runtime.StreamMetadata
  def StatefulOperatorStateInfo = stateful.StatefulOperatorStateInfo
  def StateVariableType = transformwithstate.StateVariableType
  def TransformWithStateOperatorProperties = transformwithstate.TransformWithStateOperatorProperties
}
