package io.keyfold.map

import io.keyfold.mem.Slice

/** The net changes of an ordered family by key group. */
private[map] final class OrderedChanges(
    tree: OrderedTree,
    val rows: OrderedRows,
    baseEpoch: Int,
    base: KeySet,
    keyGroups: Int
) {
  private val put = {
    val list = new IntList
    tree.collectNewer(rows.root, baseEpoch, list)
    new GroupedRecords(tree.records, list, keyGroups)
  }
  private val gone = {
    val list = new IntList
    val key = new Slice
    for (i <- 0 until rows.gone.size) {
      if (tree.find(rows.root, tree.records.key(rows.gone(i), key)) == 0) list.add(rows.gone(i))
    }
    new GroupedRecords(tree.records, list, keyGroups)
  }

  def groups: Array[Int] = (put.groups ++ gone.groups).distinct

  def cursor(group: Int, owner: ArenaView): ChangeCursor = {
    val putRecords = new IntList
    val goneRecords = new IntList
    put.addTo(putRecords, group)
    gone.addTo(goneRecords, group)
    new ListCursor(tree.addresses, rows.spec, putRecords, goneRecords, baseEpoch, base, owner)
  }
}
