package io.keyfold.map.arena

import io.keyfold.map.ChangeCursor
import io.keyfold.map.cursor.{ChangedRecordsCursor, ViewLock}
import io.keyfold.mem.Slice

/** The changes of a key group of which the transaction has rows in files: those in memory, then
  * those in the files.
  */
private[map] final class SpilledChanges(
    hot: ChangedRecordsCursor,
    cold: ChangeCursor,
    lock: ViewLock
) extends ChangeCursor {
  private var current: ChangeCursor = hot

  override def next(): Boolean = (current ne cold) && hot.next() || {
    current = cold
    if (lock.isMine) cold.next() else lock.locked(cold.next())
  }

  override def appended: Boolean = current.appended
  override def removed: Boolean = current.removed
  override def hash: Int = current.hash
  override def key: Slice = current.key
  override def value: Slice = current.value
  override def nextValue(): Boolean = current.nextValue()

  override def close(): Unit = hot.close()
}
