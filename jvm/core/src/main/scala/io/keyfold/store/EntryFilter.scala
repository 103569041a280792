package io.keyfold.store

import io.keyfold.format.Identity
import io.keyfold.group.{KeyGroups, Selection}

/** Which entries of a file a load takes.
  *
  * @param taken
  *   the groups and rows that a reference takes of the file
  * @param dropped
  *   for each of the file's families, of which rows it was dropped later; empty: of none
  */
private[store] final class EntryFilter(
    taken: Selection,
    dropped: Array[List[EntryFilter.Rows]]
) {
  def hasGroup(group: Int): Boolean = taken.hasGroup(group)

  def hasRow(family: Int, hash: Int): Boolean =
    taken.hasRow(hash) && (dropped.length == 0 || !isDropped(dropped(family), hash))

  private def isDropped(rows: List[EntryFilter.Rows], hash: Int) = rows.exists(_.has(hash))
}

private[store] object EntryFilter {

  /** Takes all. */
  val All = new EntryFilter(Selection.All, Array.empty)

  /** The rows of a file's partition that a reference takes, whether the file has them or not. */
  final class Rows(file: Identity, taken: Selection) {
    def has(hash: Int): Boolean =
      KeyGroups.partitionOf(hash, file.partitions) == file.partition &&
        taken.hasGroup(KeyGroups.groupOf(hash, file.keyGroups)) && taken.hasRow(hash)
  }
}
