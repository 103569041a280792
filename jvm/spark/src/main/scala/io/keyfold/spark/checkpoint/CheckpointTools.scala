package io.keyfold.spark.checkpoint

import io.keyfold.io.{BlobStore, RetryingBlobStore}
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.CheckpointLogs

/** What works on a checkpoint as a whole works with: its logs, its state's files, and threads. */
private[spark] final class CheckpointTools(session: SparkSession, checkpoint: String)
    extends AutoCloseable {
  val logs = new CheckpointLogs(session, checkpoint)

  /** The checkpoint's `state` folder. */
  val blobs: BlobStore = new RetryingBlobStore(
    new HadoopBlobStore(new Path(logs.location, "state"), logs.hadoopConf),
    () => ()
  )

  val parallel = new InParallel(CheckpointTools.Threads)

  override def close(): Unit = {
    parallel.close()
    blobs.close()
  }
}

private[spark] object CheckpointTools {

  /** File operations at a time: most of their time is waiting. */
  private val Threads = 8

  /** Tells people what is going on, on the standard error stream. */
  def progress(line: String): Unit = System.err.println(s"keyfold: $line")

  def using[T](session: SparkSession, checkpoint: String)(body: CheckpointTools => T): T = {
    val tools = new CheckpointTools(session, checkpoint)
    try body(tools)
    finally tools.close()
  }
}
