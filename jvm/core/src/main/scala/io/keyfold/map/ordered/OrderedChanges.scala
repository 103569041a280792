package io.keyfold.map.ordered

import io.keyfold.map.cold.ColdByGroup
import io.keyfold.map.cursor.{KeySet, ChangedRecordsCursor, ViewLock}
import io.keyfold.map.value.{GroupedRecords, IntList}
import io.keyfold.map.version.OrderedIndex
import io.keyfold.mem.Slice

/** The net changes of an ordered family by key group.
  *
  * @param spilled
  *   the changed rows of cold leaves that the transaction has made; null if there is no such leaf
  */
private[map] final class OrderedChanges(
    tree: OrderedTree,
    val rows: OrderedIndex,
    baseEpoch: Int,
    base: KeySet,
    keyGroups: Int,
    val spilled: ColdByGroup
) {
  private val put =
    new GroupedRecords(tree.records, keyGroups)(tree.eachNewer(rows.root, baseEpoch))
  private val gone = {
    val list = new IntList
    val key = new Slice
    for (record <- if (spilled == null) rows.gone.toArray else sortedGone) {
      if (!tree.hasNewer(rows.root, tree.records.key(record, key), baseEpoch))
        list.add(record)
    }
    new GroupedRecords(tree.records, keyGroups)(use => for (i <- 0 until list.size) use(list(i)))
  }

  /** So that each cold leaf is read once. */
  private def sortedGone: Array[Int] = {
    val key = new Slice
    rows.gone.toArray.sortWith((a, b) => tree.records.compareKey(a, tree.records.key(b, key)) < 0)
  }

  def groups: Array[Int] = {
    val cold = if (spilled == null) Array.emptyIntArray else spilled.groups
    (put.groups ++ gone.groups ++ cold).distinct
  }

  /** Changes in memory. */
  def cursor(group: Int, lock: ViewLock): ChangedRecordsCursor = {
    val cursor = new ChangedRecordsCursor(
      tree.addresses,
      rows.spec,
      baseEpoch,
      base,
      lock
    )
    put.addTo(cursor.put, group)
    gone.addTo(cursor.gone, group)
    cursor
  }
}
