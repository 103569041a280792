package io.keyfold.map.arena

import io.keyfold.map.{CursorOver, RowCursor}
import io.keyfold.map.cursor.{PagePins, ViewLock}
import io.keyfold.map.version.OpenCursor

/** The rows of key groups: first those in runs, then those in memory.
  *
  * @param lock
  *   of the view that has the rows
  * @param txn
  *   the same view if it is an open transaction, else null
  * @param pinned
  *   of the transaction, unpinned behind the rows in runs; null if there is none
  */
private[map] class TieredCursor[C <: RowCursor](
    hot: C,
    cold: C,
    lock: ViewLock,
    txn: PagePins,
    pinned: OpenCursor
) extends CursorOver[C](cold) {
  private var pages = pinned

  override def next(): Boolean =
    if (current eq hot) hot.next()
    else (if (lock.isMine) nextCold() else lock.locked(nextCold())) || hot.next()

  private def nextCold() = cold.next() || {
    endCold()
    false
  }

  private def endCold(): Unit = {
    cold.close()
    current = hot
    if (pages != null) txn.unpinPages(pages)
    pages = null
  }

  override def close(): Unit = {
    if (pages == null && lock.isMine) endCold() else lock.ifQuiet(endCold())
    hot.close()
  }
}
