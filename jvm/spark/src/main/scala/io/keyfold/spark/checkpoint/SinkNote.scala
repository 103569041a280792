package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.keyfold.CheckpointFiles

/** Whether a query writes to a file sink, and since when: the file `keyfold/sink` of its
  * checkpoint, see FORMAT.md. The log of a file sink has numbers of batches only, and after a
  * rollback a number is used again. Which folder the sink has does not matter: it may be moved.
  *
  * @param after
  *   the newest batch that was begun when the query first started with such a sink; -1: none
  */
private[spark] final case class SinkNote(isFileSink: Boolean, after: Long)

private[spark] object SinkNote {
  val Place = "keyfold/sink"
  private val Content = """v1\n(file|other) (-?\d{1,18})""".r

  /** None if there is none, or none that can be understood. */
  def read(files: CheckpointFiles): Option[SinkNote] =
    files.read(Place).map(new String(_, UTF_8)).collect { case Content(kind, after) =>
      SinkNote(kind == "file", after.toLong)
    }

  /** Notes the sink with which a query starts, unless that is noted already.
    *
    * @param last
    *   the newest batch that was begun; -1: none
    */
  def write(files: CheckpointFiles, last: Long, isFileSink: Boolean): Unit = {
    val before = read(files)
    val after = before.filter(_.isFileSink == isFileSink).fold(last)(_.after.min(last))
    if (!before.contains(SinkNote(isFileSink, after))) {
      val kind = if (isFileSink) "file" else "other"
      files.replace(Place, s"v1\n$kind $after".getBytes(UTF_8))
    }
  }
}
