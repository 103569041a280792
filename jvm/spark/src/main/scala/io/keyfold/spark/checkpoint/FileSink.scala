package io.keyfold.spark.checkpoint

import java.io.IOException

import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.SparkShim

/** The log of a file sink: an entry for each batch, with the files that it wrote. Spark reads it
  * from its first entry on, or from one that has earlier ones compacted into it.
  *
  * @param path
  *   of the log's folder
  */
final class FileSink private[spark] (session: SparkSession, path: Path) {
  import FileSink._

  private val log = new SinkLog(session, path)
  private val manager =
    SparkShim.CheckpointFileManager.create(path, session.sessionState.newHadoopConf())

  /** Location of the sink's output. */
  def folder: String = path.getParent.toString

  def lastBatch: Option[Long] = log.getLatestBatchId()

  /** Names of the entries. */
  private def entries: Set[String] =
    manager.list(path).map(_.getPath.getName).filter(Entry.matches).toSet

  /** Entries of later batches, relative to the folder, newest first. */
  def entriesAfter(batch: Long): Seq[String] =
    entries.toSeq
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
    !there.exists(batchOf(_) > batch) || chain(batch, there).forall(there)
  }

  /** Whether a batch and later ones are absent or can be removed: those before them are there.
    *
    * @param newest
    *   of the query; a log with later ones is another query's
    */
  def canForget(batch: Long, newest: Long): Boolean =
    lastBatch.forall(it => it < batch || it <= newest && canEndAt(batch - 1))

  /** Batches whose entries are missing between others. */
  def gaps: Seq[Long] = {
    val has = FileSink.has(entries.toSeq)
    val first = entries.map(batchOf).minOption.getOrElse(0L)
    (first to lastBatch.getOrElse(-1L)).filterNot(has)
  }

  /** Whether a batch wrote files; None if it has no entry.
    *
    * @throws java.io.IOException
    *   if its entry cannot be read
    */
  def hasOutput(batch: Long): Option[Boolean] =
    entries.find(batchOf(_) == batch).map { own =>
      val isCompacted = own.endsWith(Compact)
      val earlier = if (isCompacted) chain(batch - 1, entries) else Nil
      val before = earlier.flatMap(paths).toSet
      paths(own).exists(!before(_))
    }

  /** Of the files that an entry has. */
  private def paths(entry: String): Seq[String] = {
    val file = new Path(path, entry)
    try Using.resource(manager.open(file))(log.deserialize(_)).toSeq.map(_.path)
    catch { case e: RuntimeException => throw new IOException(s"Cannot understand $file", e) }
  }

  /** Removes a batch and later ones from the log; requires [[canForget]]. */
  def forget(batch: Long): Unit =
    entriesAfter(batch - 1).foreach(it => manager.delete(new Path(path.getParent, it)))

  /** Makes an empty log as if batches up to this one had written no file. */
  def beginAfter(last: Long): Unit = {
    // The last batch that Spark compacts earlier ones into: it would look for these.
    val first = log.interval * ((last + 1) / log.interval) - 1
    if (first >= 0) {
      val compacted = new Path(path, s"$first$Compact")
      CheckpointFiles.write(manager, compacted, replaces = false)(log.serialize(Array.empty, _))
    }
    (first + 1 to last).foreach(addEmpty)
  }

  /** Adds a batch that wrote no file, unless the log has it. */
  def addEmpty(batch: Long): Unit = {
    log.add(batch, Array.empty)
    ()
  }
}

object FileSink {
  private val Compact = ".compact"
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
