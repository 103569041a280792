package io.keyfold.map.arena

import io.keyfold.map.ChangeCursor
import io.keyfold.map.cold.{ColdRow, MergedRuns}
import io.keyfold.map.cursor.{ChangedRecordsCursor, KeySet, ViewLock}
import io.keyfold.mem.Slice

/** The changes of a key group of which the transaction has runs of its own: those in memory, then
  * those in the runs.
  *
  * @param isInMemory
  *   whether the transaction has a record of a key, which is then not taken from the runs
  */
private[map] final class SpilledChanges(
    hot: ChangedRecordsCursor,
    cold: MergedRuns,
    isInMemory: (Int, Slice) => Boolean,
    base: KeySet,
    lock: ViewLock
) extends ChangeCursor {
  private var row: ColdRow = _
  private var inHot = true
  private val coldKey = new Slice
  private val coldValue = new Slice

  override def next(): Boolean = inHot && hot.next() || {
    inHot = false
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
    !isInMemory(cold.hash, coldKey) &&
    (!row.isRemoved || base.contains(row.hash, coldKey))

  override def appended: Boolean = inHot && hot.appended
  override def removed: Boolean = if (inHot) hot.removed else row.isRemoved
  override def hash: Int = if (inHot) hot.hash else row.hash
  override def key: Slice = if (inHot) hot.key else coldKey
  override def value: Slice = if (inHot) hot.value else coldValue
  override def nextValue(): Boolean =
    if (inHot) hot.nextValue() else row.nextValue(coldValue)

  override def close(): Unit = hot.close()
}
