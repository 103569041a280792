package io.keyfold.store.load

import io.keyfold.group.PartitionSet

/** The entries of a file that a load takes.
  *
  * @param taken
  *   a row is taken if every one of these sets has it
  * @param dropped
  *   for each of the file's families, the rows for which it was dropped later; empty: none
  */
private[store] final class EntryFilter(
    taken: Seq[PartitionSet],
    dropped: Array[List[Int => Boolean]]
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

  private def isDropped(rows: List[Int => Boolean], hash: Int) = rows.exists(_(hash))
}

private[store] object EntryFilter {

  /** Takes all entries. */
  val All = new EntryFilter(Nil, Array.empty)
}
