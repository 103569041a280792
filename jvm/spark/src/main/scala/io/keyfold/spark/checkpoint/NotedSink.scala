package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.keyfold.CheckpointFiles

/** The folder of the file sink whose log a start has given batches of Keyfold's own
  * (docs/FORMAT.md, section 12). No other file of a checkpoint names it, and the undo of a
  * migration needs it.
  */
private[spark] object NotedSink {
  private val Path = "keyfold/sink"

  /** Before the log is changed. */
  def note(files: CheckpointFiles, folder: String): Unit =
    files.replace(Path, folder.getBytes(UTF_8))

  /** None if no start has changed a log. */
  def folder(files: CheckpointFiles): Option[String] = files.read(Path).map(new String(_, UTF_8))
}
