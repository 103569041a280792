package io.keyfold.map.value

import io.keyfold.group.KeyGroups

/** Records sorted by key group, with one pass that counts and one that places. Takes 4 bytes of
  * heap per record.
  *
  * @param keyGroups
  *   G
  * @param each
  *   calls a function for each record, with its key group first; used twice
  */
private[map] final class GroupedRecords(keyGroups: Int)(each: ((Int, Int) => Unit) => Unit) {

  /** @param each calls a function for each record; used twice */
  def this(records: Records, keyGroups: Int)(each: (Int => Unit) => Unit) =
    this(keyGroups)(use => each(it => use(KeyGroups.groupOf(records.hash(it), keyGroups), it)))

  /** The start of each group in `sorted`; one more at the end. */
  private val starts = {
    val counts = new Array[Int](keyGroups + 1)
    each((group, _) => counts(group + 1) += 1)
    for (group <- 0 until keyGroups) counts(group + 1) += counts(group)
    counts
  }
  private val sorted = {
    val next = starts.clone()
    val sorted = new Array[Int](starts(keyGroups))
    each { (group, record) =>
      sorted(next(group)) = record
      next(group) += 1
    }
    sorted
  }

  /** Those that have records, ascending. */
  def groups: Array[Int] = {
    val found = Array.newBuilder[Int]
    var group = 0
    while (group < keyGroups) {
      if (starts(group) < starts(group + 1)) found += group
      group += 1
    }
    found.result()
  }

  def of(group: Int): RecordRun = new RecordRun(sorted, starts(group), starts(group + 1))

  /** Adds those of a group. */
  def addTo(list: IntList, group: Int): Unit =
    for (i <- starts(group) until starts(group + 1)) list.add(sorted(i))
}
