package io.keyfold.map

import io.keyfold.mem.Arena

/** Records and pages that a transaction has replaced or removed, and that other versions may still
  * need.
  */
private[map] final class Retired {
  private val records = new IntList
  private val pages = new IntList

  def addRecord(record: Int): Unit = records.add(record)
  def addPage(page: Int): Unit = pages.add(page)

  def addAll(other: Retired): Unit = {
    for (i <- 0 until other.records.size) records.add(other.records(i))
    for (i <- 0 until other.pages.size) pages.add(other.pages(i))
  }

  /** Frees what was made after `epoch`, and forgets the rest: it is in use. */
  def free(arena: Arena, epoch: Int): Unit = {
    val reader = new Records(arena.addresses)
    freeIf(records, arena)(reader.epoch(_) > epoch)
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
