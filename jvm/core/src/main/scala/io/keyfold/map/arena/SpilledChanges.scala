package io.keyfold.map.arena

import io.keyfold.map.ChangeCursor
import io.keyfold.map.cold.{ColdRow, MergedRuns}
import io.keyfold.map.cursor.{ChangedRecordsCursor, KeySet, ViewLock}
import io.keyfold.map.hash.HashTrie
import io.keyfold.mem.Slice

/** The changes of a key group of which the transaction has runs of its own: those in memory, then
  * those in the runs.
  *
  * @param root
  *   of the group's trie: what has a record there is not taken from the runs
  */
private[map] final class SpilledChanges(
    hot: ChangedRecordsCursor,
    cold: MergedRuns,
    trie: HashTrie,
    root: Int,
    base: KeySet,
    lock: ViewLock
) extends ChangeCursor {
  private var row: ColdRow = _
  private var inMemory = true
  private val coldKey = new Slice
  private val coldValue = new Slice

  override def next(): Boolean = inMemory && hot.next() || {
    inMemory = false
    if (lock.isMine) nextCold() else lock.locked(nextCold())
  }

  private def nextCold() = {
    row = null
    while (row == null && cold.next()) {
      cold.row.key(coldKey)
      if (isChange(cold.row)) row = cold.row
    }
    if (row != null && !row.isRemoved) row.nextValue(coldValue)
    row != null
  }

  private def isChange(row: ColdRow) = row.isChanged &&
    trie.find(root, cold.hash, coldKey) == 0 &&
    (!row.isRemoved || base.contains(row.hash, coldKey))

  override def appended: Boolean = inMemory && hot.appended
  override def removed: Boolean = if (inMemory) hot.removed else row.isRemoved
  override def hash: Int = if (inMemory) hot.hash else row.hash
  override def key: Slice = if (inMemory) hot.key else coldKey
  override def value: Slice = if (inMemory) hot.value else coldValue
  override def nextValue(): Boolean =
    if (inMemory) hot.nextValue() else row.nextValue(coldValue)

  override def close(): Unit = hot.close()
}
