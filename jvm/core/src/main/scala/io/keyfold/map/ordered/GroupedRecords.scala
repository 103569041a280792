package io.keyfold.map.ordered

import io.keyfold.group.KeyGroups
import io.keyfold.map.value.{RecordRun, Records}

/** Records of an ordered family sorted by key group, as files need them. Takes 4 bytes of heap per
  * record.
  *
  * @param each
  *   calls a function for each record; used twice
  */
private[map] final class GroupedRecords(records: Records, keyGroups: Int)(
    each: (Int => Unit) => Unit
) {

  /** The start of each group in `sorted`; one more at the end. */
  private val starts = {
    val counts = new Array[Int](keyGroups + 1)
    each(record => counts(groupOf(record) + 1) += 1)
    for (group <- 0 until keyGroups) counts(group + 1) += counts(group)
    counts
  }
  private val sorted = {
    val next = starts.clone()
    val sorted = new Array[Int](starts(keyGroups))
    each { record =>
      val group = groupOf(record)
      sorted(next(group)) = record
      next(group) += 1
    }
    sorted
  }

  def groups: Array[Int] = (0 until keyGroups).filter(g => starts(g) < starts(g + 1)).toArray

  def of(group: Int): RecordRun = new RecordRun(sorted, starts(group), starts(group + 1))

  private def groupOf(record: Int) = KeyGroups.groupOf(records.hash(record), keyGroups)
}
