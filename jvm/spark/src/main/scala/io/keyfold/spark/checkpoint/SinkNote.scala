package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import io.keyfold.errors.Invalid
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

  /** None if there is none.
    *
    * @throws io.keyfold.errors.Invalid
    *   if it cannot be understood
    */
  def read(files: CheckpointFiles): Option[SinkNote] =
    files.read(Place).map(new String(_, UTF_8)).map {
      case Content(kind, after) => SinkNote(kind == "file", after.toLong)
      case _                    => throw damaged(files.location)
    }

  private def damaged(checkpoint: String) = new Invalid(
    "KEYFOLD_CHECKPOINT_DAMAGED",
    s"Cannot understand $checkpoint/$Place, which says whether the query writes to a file sink, and " +
      "since when. Restore it from a copy. Or delete it, if the query has had the same sink ever since " +
      "it last went back to an earlier batch; if not, write to a new folder after that."
  )

  /** Notes the sink with which a query starts, unless that is noted already.
    *
    * @param last
    *   the newest batch that was begun; -1: none
    */
  def write(files: CheckpointFiles, last: Long, isFileSink: Boolean): Unit = {
    val before = read(files)
    val after = before.filter(_.isFileSink == isFileSink).fold(last)(_.after.min(last))
    val now = SinkNote(isFileSink, after)
    if (!before.contains(now)) replace(files, now)
  }

  /** Notes that a query goes back: batches after this one run again with the same sink, or are of
    * commands.
    */
  def goBack(files: CheckpointFiles, batch: Long): Unit =
    read(files).filter(_.after > batch).foreach(it => replace(files, it.copy(after = batch)))

  private def replace(files: CheckpointFiles, note: SinkNote): Unit = {
    val kind = if (note.isFileSink) "file" else "other"
    files.replace(Place, s"v1\n$kind ${note.after}".getBytes(UTF_8))
  }
}
