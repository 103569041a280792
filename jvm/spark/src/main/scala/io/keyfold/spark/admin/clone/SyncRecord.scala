package io.keyfold.spark.admin.clone

import java.util.zip.CRC32C

import io.keyfold.format.RewrittenFile
import io.keyfold.spark.checkpoint.CheckpointFiles

/** What syncs note in a copy of a checkpoint, docs/FORMAT.md, section 13: the id of the query that
  * it is a copy of, and the entries of its logs that syncs have written. A query that has run on
  * the copy has entries of its own.
  */
private[clone] final class SyncRecord(copy: CheckpointFiles) {
  import SyncRecord._

  private def lines: Set[String] = copy.lines(Place).toSet

  /** Whether this is a copy of that query's checkpoint. */
  def isOf(query: String): Boolean = lines(s"query $query")

  /** The first of these entries that no sync has written as it is. */
  def foreign(entries: Seq[String]): Option[String] = {
    val known = lines
    entries.find(path => !copy.read(path).forall(bytes => known(line(path, bytes))))
  }

  /** Before the entries are written. Those that are there stay known until a later sync. */
  def add(query: String, entries: Seq[RewrittenFile], there: Seq[String]): Unit = {
    val before = lines
    val kept = before.filter(it => there.contains(it.drop(it.indexOf(' ') + 1)))
    val all = kept ++ entries.map(it => line(it.path, it.after.get)) + s"query $query"
    if (all != before) copy.replaceLines(Place, all.toSeq.sorted)
  }
}

private[clone] object SyncRecord {
  val Place = "keyfold/synced"

  private def line(path: String, bytes: Array[Byte]) = {
    val sum = new CRC32C
    sum.update(bytes)
    f"${sum.getValue}%08x $path"
  }
}
