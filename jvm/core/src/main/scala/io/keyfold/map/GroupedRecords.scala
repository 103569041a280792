package io.keyfold.map

import io.keyfold.group.KeyGroups

/** Records of an ordered family by key group: files want them so, the index has them otherwise.
  * Takes 4 bytes of heap for a record while it is in use.
  */
private[map] final class GroupedRecords(records: Records, list: IntList, keyGroups: Int) {

  /** Where each group begins in `sorted`; one more at the end. */
  private val starts = {
    val counts = new Array[Int](keyGroups + 1)
    for (i <- 0 until list.size) counts(groupOf(i) + 1) += 1
    for (group <- 0 until keyGroups) counts(group + 1) += counts(group)
    counts
  }
  private val sorted = {
    val next = starts.clone()
    val sorted = new Array[Int](list.size)
    for (i <- 0 until list.size) {
      val group = groupOf(i)
      sorted(next(group)) = list(i)
      next(group) += 1
    }
    sorted
  }

  def groups: Array[Int] = (0 until keyGroups).filter(g => starts(g) < starts(g + 1)).toArray

  def addTo(into: IntList, group: Int): Unit =
    for (i <- starts(group) until starts(group + 1)) into.add(sorted(i))

  private def groupOf(i: Int) = KeyGroups.groupOf(records.hash(list(i)), keyGroups)
}
