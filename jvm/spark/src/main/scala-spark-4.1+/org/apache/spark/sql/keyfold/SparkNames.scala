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

  def MemoryStream: runtime.MemoryStream.type = runtime.MemoryStream
  def CheckpointFileManager: checkpointing.CheckpointFileManager.type =
    checkpointing.CheckpointFileManager
  def OffsetSeqMetadata: checkpointing.OffsetSeqMetadata.type = checkpointing.OffsetSeqMetadata
  def CommitMetadata: checkpointing.CommitMetadata.type = checkpointing.CommitMetadata
  def MetadataVersionUtil: checkpointing.MetadataVersionUtil.type =
    checkpointing.MetadataVersionUtil
  def FileStreamSink: sinks.FileStreamSink.type = sinks.FileStreamSink
  def FileStreamSinkLog: sinks.FileStreamSinkLog.type = sinks.FileStreamSinkLog
  def StreamExecution: runtime.StreamExecution.type = runtime.StreamExecution
  def StreamMetadata: runtime.StreamMetadata.type = runtime.StreamMetadata
  def StatefulOperatorStateInfo: stateful.StatefulOperatorStateInfo.type =
    stateful.StatefulOperatorStateInfo
  def StateVariableType: transformwithstate.StateVariableType.type =
    transformwithstate.StateVariableType
  def TransformWithStateOperatorProperties
      : transformwithstate.TransformWithStateOperatorProperties.type =
    transformwithstate.TransformWithStateOperatorProperties
}
