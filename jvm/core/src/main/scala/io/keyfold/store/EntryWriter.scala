package io.keyfold.store

import io.keyfold.format.FileWriter
import io.keyfold.format.Layout.EntryType
import io.keyfold.group.GroupOrder
import io.keyfold.map.{MapTxn, MapView, RowCursor}

/** Puts rows or changes into a file, family by family, key groups in file order. */
private[store] final class EntryWriter(file: FileWriter, order: GroupOrder, seal: RowSeal) {

  def changesOf(txn: MapTxn): Unit =
    for (family <- txn.families.indices) {
      val groups = order.sorted(txn.changedGroups(family))
      var i = 0
      while (i < groups.length) {
        file.startGroup(family, groups(i))
        val change = txn.changes(family, groups(i))
        while (change.next()) {
          if (change.removed) file.add(EntryType.Remove, change.hash, change.key, change.value)
          else addRow(if (change.appended) EntryType.Append else EntryType.Put, change)
        }
        i += 1
      }
    }

  def rowsOf(view: MapView): Unit =
    for (family <- view.families.indices) {
      val groups = order.sorted(view.groups(family))
      var i = 0
      while (i < groups.length) {
        file.startGroup(family, groups(i))
        val row = view.scanGroup(family, groups(i))
        while (row.next()) addRow(EntryType.Put, row)
        i += 1
      }
    }

  private def addRow(entryType: Int, row: RowCursor): Unit = {
    open(row)
    file.add(entryType, row.hash, row.key, row.value)
    while (row.nextValue()) {
      open(row)
      file.addValue(row.value)
    }
  }

  private def open(row: RowCursor): Unit = {
    seal.verify(row.key, row.value)
    seal.open(row.value)
  }
}
