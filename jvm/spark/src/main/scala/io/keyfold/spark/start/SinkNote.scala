package io.keyfold.spark.start

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Paths

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs}

/** Which sink a query writes to, and since when: the file `keyfold/sink` of its checkpoint, see
  * FORMAT.md. The log of a file sink has numbers of batches only, and after a rollback a number is
  * used again.
  *
  * @param folder
  *   location of a file sink's output; empty: the sink is of another kind
  * @param after
  *   the newest batch that was begun when the query first started with this sink; -1: none
  */
private[start] final case class SinkNote(folder: String, after: Long) {
  import SinkNote._

  /** Whether this sink, or that a sink is of another kind, is what is noted. */
  def isOf(other: String): Boolean = pathOf(folder) == pathOf(other)

  /** After a start with a sink; `last` is the newest batch that was begun. */
  def next(sink: String, last: Long): SinkNote =
    if (isOf(sink)) copy(after = math.min(after, last)) else SinkNote(sink, last)
}

private[start] object SinkNote {
  private val Place = "keyfold/sink"
  private val Version = "v1"

  /** None if there is none, or none that can be understood. */
  def read(files: CheckpointFiles): Option[SinkNote] =
    files.read(Place).map(new String(_, UTF_8).split("\n", -1)).collect {
      case Array(Version, after, folder) if after.toLongOption.nonEmpty =>
        SinkNote(folder, after.toLong)
    }

  /** Notes the sink with which a query starts, unless that is noted already. */
  def write(files: CheckpointFiles, logs: CheckpointLogs, sink: String): Unit = {
    val (before, last) = (read(files), logs.lastStarted.getOrElse(-1L))
    val now = before.fold(SinkNote(sink, last))(_.next(sink, last))
    if (!before.contains(now)) {
      files.replace(Place, s"$Version\n${now.after}\n${now.folder}".getBytes(UTF_8))
    }
  }

  /** A folder has many URIs, and links lead to it. */
  private def pathOf(location: String) = if (location.isEmpty) location
  else {
    val uri = new Path(location).toUri
    if (uri.getScheme == "file")
      Try(Paths.get(uri.getPath).toRealPath().toString).getOrElse(uri.getPath)
    else uri.getPath
  }
}
