package io.keyfold.map.arena

import io.keyfold.map.ChangeCursor
import io.keyfold.map.cursor.ViewLock

/** The changes of a key group of which the transaction has rows in files: those in the files, then
  * those in memory.
  */
private[map] final class SpilledChanges(hot: ChangeCursor, cold: ChangeCursor, lock: ViewLock)
    extends TieredCursor(hot, cold, lock, null, null)
    with ChangeCursor {
  override def appended: Boolean = current.appended
  override def removed: Boolean = current.removed
}
