package io.keyfold.map.version

import io.keyfold.map.value.{IntList, Records, ValueNodes}
import io.keyfold.mem.arena.Arena

/** Records, values and pages that a transaction replaced or removed and that other versions may
  * still need.
  */
private[map] final class Retired {
  private val records = new IntList

  /** Newest nodes of lists that no row continues: each node is in at most one such list. */
  private val values = new IntList
  private val pages = new IntList

  def addRecord(record: Int): Unit = records.add(record)
  def addValues(newest: Int): Unit = values.add(newest)
  def addPage(page: Int): Unit = pages.add(page)

  def addAll(other: Retired): Unit = {
    records.addAll(other.records)
    values.addAll(other.values)
    pages.addAll(other.pages)
  }

  /** Frees what was made after `epoch`; the rest stays in use and is removed from the lists. */
  def free(arena: Arena, epoch: Int): Unit = {
    val reader = new Records(arena.addresses)
    val nodes = new ValueNodes(arena.addresses)
    freeIf(records, arena)(reader.epoch(_) > epoch)
    for (i <- 0 until values.size) nodes.freeNewer(values(i), epoch, arena)
    values.clear()
    freeIf(pages, arena)(page => PageHeader.epoch(arena.addresses.of(page)) > epoch)
  }

  private def freeIf(list: IntList, arena: Arena)(condition: Int => Boolean): Unit = {
    var i = 0
    while (i < list.size) {
      if (condition(list(i))) arena.free(list(i))
      i += 1
    }
    list.clear()
  }
}
