package io.keyfold.map.version

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.value.IntList

/** The open cursors of a transaction that may still read its own index pages after it replaced
  * them.
  *
  * A cursor reads pages up to the epoch that ended when the cursor was made. So a replaced page is
  * needed by the open cursors that are not older than the page. The newest of them keeps it, and
  * when closed passes it on to the next older one that needs it.
  *
  * Not thread-safe: the transaction's thread uses it.
  *
  * @param baseEpoch
  *   the last epoch before those of the transaction
  */
private[map] final class OpenCursors(baseEpoch: Int) {
  private var newest: OpenCursor = _

  /** Pages made up to this epoch are shared with the base or an open cursor. */
  def frozen: Int = last
  private var last = baseEpoch

  /** @param epoch
    *   of the newest page that it may read
    */
  def open(epoch: Int): OpenCursor = {
    val cursor = new OpenCursor(epoch, newest)
    if (newest != null) newest.newer = cursor
    newest = cursor
    last = epoch
    cursor
  }

  /** Frees the pages that only this cursor still needed. */
  def close(cursor: OpenCursor, cold: ColdSpace): Unit = {
    val older = cursor.older
    if (older != null) older.newer = cursor.newer
    if (cursor.newer != null) cursor.newer.older = older
    else {
      newest = older
      last = if (older == null) baseEpoch else older.epoch
    }
    var i = 0
    while (i < cursor.pages.size) {
      val page = cursor.pages(i)
      if (older != null && PageHeader.epoch(cold.arena.addresses.of(page)) <= older.epoch) {
        older.pages.add(page)
      } else PageSpace.free(page, cold)
      i += 1
    }
  }

  /** Frees a page that the transaction replaced, or keeps it for a cursor.
    *
    * @param epoch
    *   of the page; later than the base's
    */
  def release(page: Int, epoch: Int, cold: ColdSpace): Unit =
    if (epoch > frozen) PageSpace.free(page, cold) else newest.pages.add(page)

  /** Passes all kept pages to `use`; the cursors must not be used any more. */
  def drain(use: Int => Unit): Unit = {
    var cursor = newest
    while (cursor != null) {
      for (i <- 0 until cursor.pages.size) use(cursor.pages(i))
      cursor = cursor.older
    }
    newest = null
    last = baseEpoch
  }
}

/** An open cursor.
  *
  * @param epoch
  *   of the newest page that it may read
  */
private[map] final class OpenCursor(val epoch: Int, var older: OpenCursor) {
  var newer: OpenCursor = _

  /** Pages replaced since, which no newer cursor needs. */
  val pages = new IntList
}
