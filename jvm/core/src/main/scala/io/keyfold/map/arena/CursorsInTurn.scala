package io.keyfold.map.arena

import io.keyfold.map.RowCursor
import io.keyfold.mem.Slice

/** The rows of several cursors, each made when the one before it has ended.
  *
  * @param cursors
  *   at least one
  */
private[map] final class CursorsInTurn(cursors: Iterator[RowCursor]) extends RowCursor {
  private var current = cursors.next()
  private var closed = false

  override def next(): Boolean = {
    var found = current.next()
    while (!found && !closed && cursors.hasNext) {
      current = cursors.next()
      found = current.next()
    }
    found
  }

  override def nextValue(): Boolean = current.nextValue()
  override def hash: Int = current.hash
  override def key: Slice = current.key
  override def value: Slice = current.value

  override def close(): Unit = {
    closed = true
    current.close()
  }
}
