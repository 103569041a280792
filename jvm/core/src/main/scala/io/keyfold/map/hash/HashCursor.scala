package io.keyfold.map.hash

import io.keyfold.map.cursor.{PagePins, RecordCursor, ViewLock}
import io.keyfold.map.value.{IntList, ValueSteps}
import io.keyfold.map.version.GroupTable

/** Rows of hash-indexed key groups.
  *
  * @param hasRemoved
  *   whether there may be records of removed rows
  */
private[map] final class HashCursor(
    trie: HashTrie,
    roots: GroupTable,
    hasRemoved: Boolean,
    groups: Array[Int],
    values: ValueSteps,
    lock: ViewLock,
    txn: PagePins
) extends RecordCursor(trie.records, values, lock, txn) {
  private val pages = groups.map(roots(_))
  private var group = 0
  private var from = 0L
  start()

  override protected def fetch(batch: IntList): Boolean = {
    while (batch.size == 0 && group < pages.length) {
      from = trie.collect(pages(group), from, batch)
      if (hasRemoved) trie.dropRemoved(batch)
      if (from >= HashTrie.End) {
        from = 0L
        group += 1
      }
    }
    group < pages.length
  }
}
