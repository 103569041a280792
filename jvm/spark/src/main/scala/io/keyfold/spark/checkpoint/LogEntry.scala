package io.keyfold.spark.checkpoint

import java.nio.charset.StandardCharsets.UTF_8

import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

/** An entry of Spark's offset or commit log, as text: its version, a line of JSON, and in the
  * offset log a line for each source.
  */
private[spark] final case class LogEntry(version: String, json: String, sources: Seq[String]) {

  /** The entry with other fields, each in place of the one of its name. */
  def withFields(fields: (String, JValue)*): LogEntry = {
    val names = fields.map(_._1).toSet
    val others = parsed.obj.filterNot { case (name, _) => names(name) }
    copy(json = compact(render(JObject(others ++ fields))))
  }

  /** A field; JNothing if it is not there. */
  def field(name: String): JValue = parsed \ name

  /** Of the offset log: that the batch ran with, in milliseconds since 1970. */
  def watermarkMs: Long = number("batchWatermarkMs")

  /** Of the commit log: that the next batch runs with. */
  def nextWatermarkMs: Long = number("nextBatchWatermarkMs")

  private def number(name: String) = field(name) match {
    case JInt(it)  => it.toLong
    case JLong(it) => it
    case _         => 0L
  }

  def bytes: Array[Byte] = (version +: json +: sources).mkString("\n").getBytes(UTF_8)

  private def parsed = parse(json).asInstanceOf[JObject]
}

private[spark] object LogEntry {

  /** In place of the offset of a source of which nothing was read yet. */
  val NothingRead = "-"

  /** The form of the offset log that all queries have but those whose sources are named. */
  val Version = "v1"

  /** @throws io.keyfold.errors.MissingFile
    *   if it is not there
    */
  def read(files: CheckpointFiles, path: String): LogEntry = {
    val entry = CheckpointLogs.stillThere(files.resolve(path).toString, files.read(path))
    new String(entry, UTF_8).linesIterator.toSeq match {
      case version +: json +: sources => LogEntry(version, json, sources)
      case other                      => LogEntry(other.mkString, "{}", Nil)
    }
  }
}
