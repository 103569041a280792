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

  /** The newest entry that a batch needs of each log which does not have it, or has another one in
    * its place. Without it Spark gives its number to the files that come next, and takes them for
    * read: their rows would be lost.
    *
    * @param offsets
    *   lines of the batch's entry in the offset log
    */
  def lost(offsets: Seq[String]): Seq[Path] = for {
    (source, newest) <- needed(offsets)
    folder = new Path(checkpoint, s"sources/$source")
    if !has(folder, newest)
  } yield new Path(folder, newest.toString)

  private def has(folder: Path, entry: Long) = {
    val there = names(folder)
    there.exists(hasCompacted(entry)) ||
    there.contains(entry.toString) && isOf(entry, new Path(folder, entry.toString))
  }

  /** By the source's folder. The second version of the offset log has a name for each source. */
  private def needed(offsets: Seq[String]): Seq[(String, Long)] = {
    val sources = offsets.drop(2)
    val named =
      if (offsets.headOption.contains("v1")) sources.indices.map(i => i.toString -> sources(i))
      else sources.map(it => it.takeWhile(_ != ':') -> it.dropWhile(_ != ':').drop(1))
    named.collect { case (source, OfFiles(entry)) => source -> entry.toLong }
  }

  /** Whether the last file of an entry is of its batch. What is not whole is for Spark to report.
    */
  private def isOf(batch: Long, entry: Path) =
    Using.resource(manager(entry.getParent).open(entry)) { it =>
      val files = Source.fromInputStream(it, UTF_8.name).getLines().drop(1)
      files.foldLeft("")((_, last) => last) match {
        case OfBatch(said) => said.toLong == batch
        case _             => true
      }
    }

  private def names(folder: Path) =
    try manager(folder).list(folder).toSeq.map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }

  private def manager(folder: Path) = SparkShim.CheckpointFileManager.create(folder, hadoopConf)
}

private object FileSourceLogs {

  /** No other source's offset begins like this. */
  private val OfFiles = """\{"logOffset":(\d{1,18})\}.*""".r
  private val OfBatch = """.*"batchId":(\d{1,18})\}\s*""".r
  private val Compacted = """(\d{1,18})\.compact""".r

  private def hasCompacted(entry: Long)(name: String) = name match {
    case Compacted(last) => last.toLong >= entry
    case _               => false
  }
}
