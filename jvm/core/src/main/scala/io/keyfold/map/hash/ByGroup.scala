package io.keyfold.map.hash

import io.keyfold.map.value.IntList

/** Records sorted by key group, with one pass that counts and one that places. */
private[map] final class ByGroup(records: IntList, groups: IntList, keyGroups: Int) {

  /** The start of each group in `sorted`; one more at the end. */
  private val starts = new Array[Int](keyGroups + 1)
  private val sorted = new Array[Int](records.size)
  sort()

  private def sort(): Unit = {
    var i = 0
    while (i < groups.size) {
      if (records(i) != 0) starts(groups(i)) += 1
      i += 1
    }
    var sum = 0
    for (group <- starts.indices) {
      sum += starts(group)
      starts(group) = sum
    }
    // From the last to the first, so that the end of each group comes to be its start.
    i = groups.size - 1
    while (i >= 0) {
      if (records(i) != 0) {
        starts(groups(i)) -= 1
        sorted(starts(groups(i))) = records(i)
      }
      i -= 1
    }
  }

  def present: Array[Int] = (0 until keyGroups).filter(g => starts(g) < starts(g + 1)).toArray

  /** Adds those of a group. */
  def addTo(list: IntList, group: Int): Unit =
    for (i <- starts(group) until starts(group + 1)) list.add(sorted(i))
}
