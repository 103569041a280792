package io.keyfold.spark.checkpoint

import io.keyfold.io.{BlobStore, RetryingBlobStore}
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs}

/** Shared by operations on a whole checkpoint: its logs, its state files, and threads. */
private[spark] final class CheckpointTools(val session: SparkSession, checkpoint: String)
    extends AutoCloseable {
  val logs = new CheckpointLogs(session, checkpoint)

  /** The checkpoint's `state` folder. */
  val blobs: BlobStore = new RetryingBlobStore(
    new HadoopBlobStore(new Path(logs.location, "state"), logs.hadoopConf),
    () => ()
  )

  /** The checkpoint's files by path. */
  lazy val files = new CheckpointFiles(logs.location, logs.hadoopConf)

  val parallel = new InParallel(CheckpointTools.Threads)

  override def close(): Unit = {
    parallel.close()
    blobs.close()
  }
}

private[spark] object CheckpointTools {

  /** Concurrent file operations, which mostly wait: on S3 for 25 ms or more each. */
  private val Threads = 32

  /** Prints progress to the standard error stream. */
  def progress(line: String): Unit = System.err.println(s"keyfold: $line")

  def using[T](session: SparkSession, checkpoint: String)(body: CheckpointTools => T): T = {
    val tools = new CheckpointTools(session, checkpoint)
    try body(tools)
    finally tools.close()
  }
}
