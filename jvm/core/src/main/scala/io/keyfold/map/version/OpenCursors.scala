package io.keyfold.map.version

import io.keyfold.map.value.IntList
import io.keyfold.mem.Arena

/** The cursors of a transaction that may still go over index pages of its own which it has
  * replaced.
  *
  * A cursor goes over pages up to the epoch that ended when it was made. So a page that is replaced
  * is needed by those open cursors that are not older than the page: the newest of them keeps it,
  * and hands it on to the next older one that needs it when it is closed.
  *
  * Not thread-safe: the transaction's thread uses it.
  *
  * @param baseEpoch
  *   the last one that the transaction's base has seen
  */
private[map] final class OpenCursors(baseEpoch: Int) {
  private var newest: OpenCursor = _

  /** What was made up to this epoch is not the transaction's alone: its base or an open cursor has
    * it too.
    */
  def frozen: Int = last
  private var last = baseEpoch

  /** @param epoch
    *   of the newest page that it may go over
    */
  def open(epoch: Int): OpenCursor = {
    val cursor = new OpenCursor(epoch, newest)
    if (newest != null) newest.newer = cursor
    newest = cursor
    last = epoch
    cursor
  }

  /** Frees the pages that only this cursor still needed. */
  def close(cursor: OpenCursor, arena: Arena): Unit = {
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
      if (older != null && PageHeader.epoch(arena.addresses.of(page)) <= older.epoch) {
        older.pages.add(page)
      } else arena.free(page)
      i += 1
    }
  }

  /** Frees a page that the transaction has replaced, or keeps it.
    *
    * @param epoch
    *   of the page; after that of the base
    */
  def release(page: Int, epoch: Int, arena: Arena): Unit =
    if (epoch > frozen) arena.free(page) else newest.pages.add(page)

  /** Hands out all pages that are kept; the cursors are not used any more. */
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

/** One of them.
  *
  * @param epoch
  *   of the newest page that it may go over
  */
private[map] final class OpenCursor(val epoch: Int, var older: OpenCursor) {
  var newer: OpenCursor = _

  /** Pages replaced since that no newer cursor needs. */
  val pages = new IntList
}
