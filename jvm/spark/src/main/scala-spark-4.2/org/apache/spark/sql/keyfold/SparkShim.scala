package org.apache.spark.sql.keyfold

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.memory._
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExecBase
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution
import org.apache.spark.sql.execution.streaming.{checkpointing, runtime}
import org.apache.spark.sql.internal.SQLConf

/** Names, places and types that differ in other Spark lines. */
object SparkShim {
  final val Line = "4.2"

  type CheckpointFileManager = checkpointing.CheckpointFileManager
  type CancellableStream = checkpointing.CheckpointFileManager.CancellableFSDataOutputStream

  /** Setting that names the class of the checkpoint file manager. */
  val FileManagerKey: String = SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  /** Setting that passes the number of partitions of a query's state to executors. */
  val PartitionsKey: String = SQLConf.STATEFUL_SHUFFLE_PARTITIONS_INTERNAL.key

  /** Setting that passes the id of the query's run to executors. */
  val RunIdKey: String = runtime.StreamExecution.RUN_ID_KEY

  /** Registers off-heap memory, in bytes, with Spark's memory manager, which polls it. */
  def registerMemory(used: () => Long): Unit =
    UnifiedMemoryManager.registerUnmanagedMemoryConsumer(new UnmanagedMemoryConsumer {
      override def unmanagedMemoryConsumerId: UnmanagedMemoryConsumerId =
        UnmanagedMemoryConsumerId("Keyfold", "shared")
      override def memoryMode: MemoryMode = MemoryMode.OFF_HEAP
      override def getMemBytesUsed: Long = used()
    })

  /** Whether this thread is about to run transformWithState as a streaming query. */
  def startsTransformWithState: Boolean = {
    val frames = StackWalker.getInstance.walk(_.map[String](_.getClassName).toArray)
    def has(name: String) = frames.contains(name)
    has(classOf[TransformWithStateExecBase].getName) && has(classOf[MicroBatchExecution].getName)
  }

  /** The one that the setting names, or Spark's own choice for the file system. */
  def checkpointFileManager(path: Path, conf: Configuration): CheckpointFileManager =
    checkpointing.CheckpointFileManager.create(path, conf)

  /** The same entry of the offset log with changed settings. */
  private[keyfold] def withSettings(
      offsets: checkpointing.OffsetSeqBase,
      by: Map[String, String]
  ): checkpointing.OffsetSeqBase =
    offsets match {
      case v1: checkpointing.OffsetSeq =>
        v1.copy(metadataOpt = v1.metadataOpt.map(m => m.copy(conf = m.conf ++ by)))
      case v2: checkpointing.OffsetMap =>
        v2.copy(metadata = v2.metadata.copy(conf = v2.metadata.conf ++ by))
      case other => throw new IllegalStateException(s"Unknown offset log entry: $other")
    }
}
