package io.keyfold.store.load

import io.keyfold.format.Identity
import io.keyfold.group.{KeyGroups, RowSet}

/** The entries of a file that a load takes.
  *
  * @param taken
  *   a row is taken if every one of these sets has it
  * @param dropped
  *   for each of the file's families, the rows for which it was dropped later; empty: none
  */
private[store] final class EntryFilter(
    taken: Seq[RowSet],
    dropped: Array[List[EntryFilter.Rows]]
) {
  private val sets = taken.toArray

  def hasGroup(group: Int): Boolean = sets.forall(_.hasGroup(group))

  def hasRow(family: Int, hash: Int): Boolean =
    hasRow(hash) && (dropped.length == 0 || !isDropped(dropped(family), hash))

  private def hasRow(hash: Int): Boolean = {
    var i = 0
    while (i < sets.length && sets(i).hasRow(hash)) i += 1
    i == sets.length
  }

  private def isDropped(rows: List[EntryFilter.Rows], hash: Int) = rows.exists(_.has(hash))
}

private[store] object EntryFilter {

  /** Takes all entries. */
  val All = new EntryFilter(Nil, Array.empty)

  /** A set of rows. */
  trait Rows {
    def has(hash: Int): Boolean
  }

  object EveryRow extends Rows {
    override def has(hash: Int): Boolean = true
  }

  /** The rows of a file's partition that a reference takes, whether or not the file contains them.
    */
  final class TakenOf(file: Identity, taken: Seq[RowSet]) extends Rows {
    override def has(hash: Int): Boolean = {
      val group = KeyGroups.groupOf(hash, file.keyGroups)
      KeyGroups.partitionOf(hash, file.partitions) == file.partition &&
      taken.forall(set => set.hasGroup(group) && set.hasRow(hash))
    }
  }
}
