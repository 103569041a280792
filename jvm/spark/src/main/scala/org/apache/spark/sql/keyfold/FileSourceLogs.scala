package org.apache.spark.sql.keyfold

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8

import scala.io.Source
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** The logs of a query's file sources, from which Spark knows which files the query has read. */
private final class FileSourceLogs(checkpoint: Path, hadoopConf: Configuration) {
  import FileSourceLogs._

  /** The newest entry that a batch needs of each log which does not have it. Without it Spark gives
    * its number to the files that come next, and takes them for read: their rows would be lost.
    */
  def lost(batch: Long): Seq[Path] = for {
    (source, newest) <- needed(batch)
    folder = new Path(checkpoint, s"sources/$source")
    if !names(folder).exists(has(newest))
  } yield new Path(folder, newest.toString)

  /** By the source's folder. The second version of the offset log has a name for each source. */
  private def needed(batch: Long): Seq[(String, Long)] = {
    val lines = linesOf(new Path(checkpoint, s"offsets/$batch"))
    val sources = lines.drop(2)
    val named =
      if (lines.headOption.contains("v1")) sources.zipWithIndex.map { case (it, i) => s"$i" -> it }
      else sources.map(it => it.takeWhile(_ != ':') -> it.dropWhile(_ != ':').drop(1))
    named.collect { case (source, OfFiles(entry)) => source -> entry.toLong }
  }

  private def linesOf(file: Path) =
    Using.resource(manager(file.getParent).open(file)) { it =>
      Source.fromInputStream(it, UTF_8.name).getLines().toList
    }

  private def names(folder: Path) =
    try manager(folder).list(folder).toSeq.map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }

  private def manager(folder: Path) = SparkShim.CheckpointFileManager.create(folder, hadoopConf)
}

private object FileSourceLogs {

  /** No other source's offset begins like this. */
  private val OfFiles = """\{"logOffset":(\d{1,18})\}.*""".r
  private val Compacted = """(\d{1,18})\.compact""".r

  private def has(entry: Long)(name: String) = name match {
    case Compacted(last) => last.toLong >= entry
    case _               => name == entry.toString
  }
}
