package io.keyfold.map.arena

import io.keyfold.map.RowCursor
import io.keyfold.map.cursor.{PagePins, ViewLock}
import io.keyfold.map.version.OpenCursor
import io.keyfold.mem.Slice

/** The rows of key groups: first those in runs, then those in memory.
  *
  * @param lock
  *   of the view that has the rows
  * @param txn
  *   the same view if it is an open transaction, else null
  */
private[map] final class TieredCursor(
    hot: RowCursor,
    cold: ColdCursor,
    lock: ViewLock,
    txn: PagePins
) extends RowCursor {
  private var current: RowCursor = cold

  /** Keeps the tries that the rows in runs are compared with. */
  private var pages: OpenCursor = if (txn == null) null else txn.pinPages()

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

  override def nextValue(): Boolean = current.nextValue()
  override def hash: Int = current.hash
  override def key: Slice = current.key
  override def value: Slice = current.value

  override def close(): Unit = {
    if (pages == null && lock.isMine) endCold() else lock.ifQuiet(endCold())
    hot.close()
  }
}
