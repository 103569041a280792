package org.apache.spark.sql.keyfold

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.memory._
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExecBase
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution
import org.apache.spark.sql.execution.streaming.{checkpointing, runtime}
import org.apache.spark.sql.internal.SQLConf

/** Names and places that differ in other Spark lines. */
object SparkShim {
  final val Line = "4.2"

  type CheckpointFileManager = checkpointing.CheckpointFileManager

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

  def checkpointFileManager(path: Path, conf: Configuration): CheckpointFileManager =
    checkpointing.CheckpointFileManager.create(path, conf)
}
