package io.keyfold.map.arena

import io.keyfold.map.{CursorOver, RowCursor}

/** The rows of several cursors, each made when the one before it has ended.
  *
  * @param cursors
  *   at least one
  */
private[map] final class CursorsInTurn(cursors: Iterator[RowCursor])
    extends CursorOver(cursors.next()) {
  private var closed = false

  /** Why the next one could not be made: its rows are not to be left out. */
  private var failure: Throwable = _

  override def next(): Boolean = {
    if (failure != null) throw failure
    var found = current.next()
    while (!found && !closed && cursors.hasNext) {
      try current = cursors.next()
      catch {
        case e: Throwable =>
          failure = e
          throw e
      }
      found = current.next()
    }
    found
  }

  override def close(): Unit = {
    closed = true
    super.close()
  }
}
