package io.keyfold.store.file

import io.keyfold.format.FileWriter
import io.keyfold.format.Layout.EntryType
import io.keyfold.group.GroupOrder
import io.keyfold.map.{MapTxn, MapView, RowCursor}

/** Writes rows or changes to a file, family by family, with key groups in file order. */
private[store] final class EntryWriter(
    file: FileWriter,
    order: GroupOrder,
    rowChecksum: RowChecksum
) {

  def changesOf(txn: MapTxn): Unit = eachGroup(txn, txn.changedGroups) { (family, group) =>
    val change = txn.changes(family, group)
    while (change.next()) {
      if (change.removed) file.add(EntryType.Remove, change.hash, change.key, change.value)
      else addRow(if (change.appended) EntryType.Append else EntryType.Put, change)
    }
  }

  def rowsOf(view: MapView): Unit = eachGroup(view, view.groups) { (family, group) =>
    val row = view.scanGroup(family, group)
    while (row.next()) addRow(EntryType.Put, row)
  }

  private def eachGroup(view: MapView, groupsOf: Int => Array[Int])(
      write: (Int, Int) => Unit
  ): Unit =
    for (family <- view.families.indices) {
      val groups = order.sorted(groupsOf(family))
      var i = 0
      while (i < groups.length) {
        val isSplit = i > 0 && order.isSplitBetween(groups(i - 1), groups(i))
        file.startGroup(family, groups(i), isSplit)
        write(family, groups(i))
        i += 1
      }
    }

  private def addRow(entryType: Int, row: RowCursor): Unit = {
    open(row)
    file.add(entryType, row.hash, row.key, row.value)
    while (row.nextValue()) {
      open(row)
      file.addValue(row.hash, row.key, row.value)
    }
  }

  private def open(row: RowCursor): Unit = {
    rowChecksum.verify(row.key, row.value)
    rowChecksum.strip(row.value)
  }
}
