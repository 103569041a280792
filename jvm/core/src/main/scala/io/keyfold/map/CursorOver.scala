package io.keyfold.map

import io.keyfold.mem.Slice

/** A cursor that is where another one is. */
private[keyfold] abstract class CursorOver[C <: RowCursor](protected var current: C)
    extends RowCursor {
  override def nextValue(): Boolean = current.nextValue()
  override def hash: Int = current.hash
  override def key: Slice = current.key
  override def value: Slice = current.value
  override def close(): Unit = current.close()
}
