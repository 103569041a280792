package io.keyfold.map.arena

import io.keyfold.map.cursor.{PagePins, RecordCursor, ViewLock}
import io.keyfold.map.hash.{HashTable, HashTree, Sight}
import io.keyfold.map.value.{IntList, Records, ValueSteps}

/** Rows of key groups in a hash table.
  *
  * @param sight
  *   of the view
  */
private[map] final class HashCursor(
    table: HashTable,
    records: Records,
    sight: Sight,
    groups: Array[Int],
    values: ValueSteps,
    lock: ViewLock,
    txn: PagePins
) extends RecordCursor(records, values, lock, txn) {
  private var group = 0
  private var from = 0L
  start()

  override protected def fetch(batch: IntList): Boolean = {
    // What the transaction has written since is newer.
    val sight = if (pages == null) this.sight else this.sight.until(pages.epoch)
    while (batch.size == 0 && group < groups.length) {
      table.lock.lock()
      try from = table.collect(groups(group), from, sight, batch)
      finally table.lock.unlock()
      if (from >= HashTree.End) {
        from = 0L
        group += 1
      }
    }
    group < groups.length
  }
}
