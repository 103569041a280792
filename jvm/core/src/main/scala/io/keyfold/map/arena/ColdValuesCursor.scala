package io.keyfold.map.arena

import io.keyfold.map.RowCursor
import io.keyfold.map.cold.ColdRow
import io.keyfold.mem.Slice

/** The row of a run, with its values copied to the heap. */
private[map] final class ColdValuesCursor(row: ColdRow) extends RowCursor {
  override val hash: Int = row.hash
  override val key: Slice = row.key(new Slice)
  override val value = new Slice
  private val values = Iterator.continually(new Slice).takeWhile(row.nextValue).toArray

  /** Number of values stepped to; -1 before the row. */
  private var taken = -1

  override def next(): Boolean = {
    val isFirst = taken < 0
    taken = if (isFirst) 0 else values.length
    isFirst && nextValue()
  }

  override def nextValue(): Boolean = taken >= 0 && taken < values.length && {
    value.set(values(taken).base, values(taken).offset, values(taken).length)
    taken += 1
    true
  }

  override def close(): Unit = taken = values.length
}
