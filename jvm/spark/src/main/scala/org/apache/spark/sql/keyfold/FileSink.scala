package org.apache.spark.sql.keyfold

import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable
import scala.io.Source
import scala.util.Using

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.hadoop.fs.{ChecksumException, Path}
import org.apache.spark.sql.SparkSession

/** The log of a file sink: an entry for each batch, with the files that it wrote. Spark reads it
  * from its first entry on, or from one that has earlier ones compacted into it.
  *
  * @param path
  *   of the log's folder
  */
final class FileSink private[keyfold] (session: SparkSession, path: Path) {
  import FileSink._

  private val log = new SinkLog(session, path)
  private val manager =
    SparkShim.CheckpointFileManager.create(path, session.sessionState.newHadoopConf())

  /** Location of the sink's output. */
  def folder: String = path.getParent.toString

  def lastBatch: Option[Long] = log.getLatestBatchId()

  /** The lengths of the entries in bytes, by name. */
  private def entries: Map[String, Long] = manager
    .list(path)
    .map(it => it.getPath.getName -> it.getLen)
    .filter { case (name, _) => Entry.matches(name) }
    .toMap

  /** Entries of later batches, relative to the folder, newest first. */
  def entriesAfter(batch: Long): Seq[String] =
    entries.keys.toSeq
      .map(name => s"${path.getName}/$name")
      .filter(batchOf(_) > batch)
      .sortBy(-batchOf(_))

  /** The entries that make the log up to a batch, if they are there. */
  private def chain(last: Long, there: String => Boolean): Seq[String] = {
    val compacted = (last to 0L by -1).find(it => there(s"$it$Compact"))
    compacted.map(it => s"$it$Compact").toSeq ++
      (compacted.fold(0L)(_ + 1) to last).map(_.toString)
  }

  /** Whether Spark can read the log as of a batch, without its later entries. Spark compacts
    * entries into later ones, and deletes those.
    */
  def canEndAt(batch: Long): Boolean = {
    val there = entries
    !there.keys.exists(batchOf(_) > batch) || chain(batch, there.contains).forall(there.contains)
  }

  /** Whether a batch and later ones are absent or can be removed: those before them are there.
    *
    * @param newest
    *   of the query; a log with later ones is another query's
    */
  def canForget(batch: Long, newest: Long): Boolean =
    lastBatch.forall(it => it < batch || it <= newest && canEndAt(batch - 1))

  /** Removes a batch and later ones from the log; requires [[canForget]]. */
  def forget(batch: Long): Unit =
    entriesAfter(batch - 1).foreach(it => manager.delete(new Path(path.getParent, it)))

  /** The oldest batch whose entry is needed to read the log and cannot be read, or is a copy of
    * another; None if there is none. Of a large entry only the ends are looked at.
    */
  def firstDamaged: Option[Long] = lastBatch.flatMap { last =>
    val (bytes, at) = (entries, compactedAt(last))
    // Spark reads on from there, even if a later entry is compacted.
    val first = if (at < 0 || bytes.contains(s"$at$Compact")) Nil else chain(at, bytes.contains)
    val files = mutable.Set.empty[String]
    (first ++ chain(last, bytes.contains)).distinct
      .find(it => !bytes.contains(it) || !isWhole(it, bytes(it), files))
      .map(batchOf)
  }

  /** Whether Spark can read an entry: a version, then objects in JSON.
    *
    * @param files
    *   first files of other entries: a copy of one has the same
    */
  private def isWhole(entry: String, bytes: Long, files: mutable.Set[String]) =
    try
      if (bytes > Large) hasEnds(entry, bytes)
      else read(entry).headOption.forall(it => entry.endsWith(Compact) || files.add(it.path))
    catch {
      case _: ChecksumException | _: JsonProcessingException | _: CharacterCodingException |
          _: RuntimeException =>
        false
    }

  private def read(entry: String) =
    Using.resource(manager.open(new Path(path, entry)))(log.deserialize)

  private def hasEnds(entry: String, bytes: Long) =
    Using.resource(manager.open(new Path(path, entry))) { in =>
      val version = new String(in.readNBytes(2), UTF_8)
      in.seek(bytes - 1)
      version == "v1" && in.read() == '}'
    }

  /** The oldest of later batches whose entry has files, by the entries that have no others. */
  def firstWithFiles(after: Long): Option[Long] = entriesAfter(after).reverse
    .filterNot(_.endsWith(Compact))
    .find(it => !isEmpty(new Path(path.getParent, it)))
    .map(batchOf)

  private def isEmpty(entry: Path) =
    Using.resource(manager.open(entry)) { in =>
      Source.fromInputStream(in, UTF_8.name).getLines().drop(1).isEmpty
    }

  /** Whether the sink's folder has files; without a log, nobody knows of which batches. */
  def hasOutput: Boolean = {
    val fileSystem = path.getFileSystem(session.sessionState.newHadoopConf())
    fileSystem.exists(path.getParent) &&
    fileSystem.listStatus(path.getParent).exists(!_.getPath.getName.startsWith("_"))
  }

  /** The last batch up to this one that Spark compacts earlier ones into; -1 if there is none. */
  private def compactedAt(batch: Long) = log.interval * ((batch + 1) / log.interval) - 1

  /** Makes an empty log as if batches up to this one had written no file. */
  def beginAfter(last: Long): Unit = {
    val first = compactedAt(last)
    // Spark would compact entries that are not there.
    if (first >= 0) writeCompacted(first, Nil)
    for (batch <- first + 1 to last) log.add(batch, Array.empty)
  }

  /** Compacts the log where Spark expects that of it: its entries may have been written under
    * another interval, by a command or before a setting was changed. Requires that none is damaged.
    */
  def compact(): Unit = lastBatch.foreach { last =>
    val (at, there) = (compactedAt(last), entries.contains _)
    if (at >= 0 && !there(s"$at$Compact")) writeCompacted(at, chain(at, there))
  }

  private def writeCompacted(batch: Long, names: Seq[String]): Unit = {
    val out = manager.createAtomic(new Path(path, s"$batch$Compact"), false)
    try {
      log.serialize(names.flatMap(read(_)).toArray, out)
      out.close()
    } catch {
      case e: Throwable =>
        out.cancel()
        throw e
    }
  }

  /** Adds a batch that wrote no file, unless the log has it. */
  def addEmpty(batch: Long): Unit = if (!lastBatch.exists(_ >= batch)) {
    log.add(batch, Array.empty)
    ()
  }
}

object FileSink {
  private val Compact = ".compact"

  /** Bytes; entries of a batch have some 200 for each file. */
  private val Large = 1L << 20
  private val Entry = """\d+(\.compact)?""".r

  /** The batch of an entry of a sink's log. */
  def batchOf(entry: String): Long =
    entry.drop(entry.lastIndexOf('/') + 1).stripSuffix(Compact).toLong

  /** Which batches entries have: their own, and those up to one that is compacted. */
  def has(entries: Seq[String]): Long => Boolean = {
    val compacted = entries.filter(_.endsWith(Compact)).map(batchOf).maxOption.getOrElse(-1L)
    val own = entries.map(batchOf).toSet
    batch => batch <= compacted || own(batch)
  }

  private final class SinkLog(session: SparkSession, path: Path)
      extends SparkShim.FileStreamSinkLog(
        SparkShim.FileStreamSinkLog.VERSION,
        session,
        path.toString
      ) {

    /** Number of batches from one compacted entry to the next. */
    def interval: Int = compactInterval
  }
}
