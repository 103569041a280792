package io.keyfold.store.load

import io.keyfold.format.Identity
import io.keyfold.group.{KeyGroups, RowSet}

/** Which entries of a file a load takes.
  *
  * @param taken
  *   the rows that a reference takes of the file are in all of these
  * @param dropped
  *   for each of the file's families, of which rows it was dropped later; empty: of none
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

  /** Takes all. */
  val All = new EntryFilter(Nil, Array.empty)

  /** The rows of a file's partition that a reference takes, whether the file has them or not. */
  final class Rows(file: Identity, taken: Seq[RowSet]) {
    def has(hash: Int): Boolean = {
      val group = KeyGroups.groupOf(hash, file.keyGroups)
      KeyGroups.partitionOf(hash, file.partitions) == file.partition &&
      taken.forall(set => set.hasGroup(group) && set.hasRow(hash))
    }
  }
}
