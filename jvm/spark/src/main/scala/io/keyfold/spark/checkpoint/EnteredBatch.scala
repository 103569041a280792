package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.keyfold.CheckpointFiles

/** Which batches of Keyfold's own (docs/FORMAT.md, section 12) a start has entered in the log of
  * the query's file sink, and where that is: the undo of a migration knows no sink.
  */
private[spark] object EnteredBatch {
  private def path(batch: Long) = s"keyfold/sink-$batch"

  /** Before it is entered. */
  def note(files: CheckpointFiles, batch: Long, folder: String): Unit =
    files.replace(path(batch), folder.getBytes(UTF_8))

  /** The sink's folder; None if it was not entered. */
  def sinkOf(files: CheckpointFiles, batch: Long): Option[String] =
    files.read(path(batch)).map(new String(_, UTF_8))
}
