package io.keyfold.map.version

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.value.{IntList, Records, ValueNodes}

/** Records, values, pages and runs that a transaction replaced or removed and that other versions
  * may still need.
  */
private[map] final class Retired {
  private val records = new IntList

  /** Newest nodes of lists that no row continues: each node is in at most one such list. */
  private val values = new IntList
  private val pages = new IntList
  private val runs = new IntList

  def addRecord(record: Int): Unit = records.add(record)
  def addValues(newest: Int): Unit = values.add(newest)
  def addPage(page: Int): Unit = pages.add(page)
  def addRun(run: Int): Unit = runs.add(run)

  def addAll(other: Retired): Unit = {
    records.addAll(other.records)
    values.addAll(other.values)
    pages.addAll(other.pages)
    runs.addAll(other.runs)
  }

  /** Frees what was made after `epoch`; the rest stays in use and is removed from the lists. */
  def free(cold: ColdSpace, epoch: Int): Unit = {
    val arena = cold.arena
    val reader = new Records(arena.addresses)
    val nodes = new ValueNodes(arena.addresses)
    freeIf(records)(reader.epoch(_) > epoch)(arena.free)
    for (i <- 0 until values.size) nodes.freeNewer(values(i), epoch, arena)
    values.clear()
    freeIf(pages)(page => PageHeader.epoch(arena.addresses.of(page)) > epoch)(
      PageSpace.free(_, cold)
    )
    freeIf(runs)(cold.epoch(_) > epoch)(cold.free)
  }

  private def freeIf(list: IntList)(condition: Int => Boolean)(free: Int => Unit): Unit = {
    var i = 0
    while (i < list.size) {
      if (condition(list(i))) free(list(i))
      i += 1
    }
    list.clear()
  }
}
