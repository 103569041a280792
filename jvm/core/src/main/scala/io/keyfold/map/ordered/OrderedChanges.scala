package io.keyfold.map.ordered

import io.keyfold.map.ChangeCursor
import io.keyfold.map.cursor.{KeySet, ChangedRecordsCursor, ViewLock}
import io.keyfold.map.value.{IntList, RecordRun}
import io.keyfold.map.version.OrderedIndex
import io.keyfold.mem.Slice

/** The net changes of an ordered family by key group. */
private[map] final class OrderedChanges(
    tree: OrderedTree,
    val rows: OrderedIndex,
    baseEpoch: Int,
    base: KeySet,
    keyGroups: Int
) {
  private val put =
    new GroupedRecords(tree.records, keyGroups)(tree.eachNewer(rows.root, baseEpoch))
  private val gone = {
    val list = new IntList
    val key = new Slice
    for (i <- 0 until rows.gone.size) {
      if (tree.find(rows.root, tree.records.key(rows.gone(i), key)) == 0) list.add(rows.gone(i))
    }
    new GroupedRecords(tree.records, keyGroups)(use => for (i <- 0 until list.size) use(list(i)))
  }

  def groups: Array[Int] = (put.groups ++ gone.groups).distinct

  def cursor(group: Int, lock: ViewLock): ChangeCursor = {
    val cursor = new ChangedRecordsCursor(
      tree.addresses,
      rows.spec,
      new IntList,
      new IntList,
      baseEpoch,
      base,
      lock
    )
    addTo(cursor.put, put.of(group))
    addTo(cursor.gone, gone.of(group))
    cursor
  }

  private def addTo(list: IntList, run: RecordRun): Unit =
    for (i <- 0 until run.size) list.add(run(i))
}
