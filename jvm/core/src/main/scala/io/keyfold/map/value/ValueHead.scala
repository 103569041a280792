package io.keyfold.map.value

import io.keyfold.mem.{Mem, Slice}

/** The value part of a record in a family with several values per key:
  *
  * {{{
  *   0  i32  node of the newest value
  *   4  i32  number of values, at least 1
  *   8  i64  bytes of all values
  * }}}
  *
  * The newest node is not older than its record.
  */
private[map] object ValueHead {
  val Length = 16

  def newest(head: Slice): Int = Mem.getInt(head.base, head.offset)
  def values(head: Slice): Int = Mem.getInt(head.base, head.offset + 4)
  def bytes(head: Slice): Long = Mem.getLong(head.base, head.offset + 8)

  def write(head: Slice, newest: Int, values: Int, bytes: Long): Unit = {
    Mem.putInt(head.base, head.offset, newest)
    Mem.putInt(head.base, head.offset + 4, values)
    Mem.putLong(head.base, head.offset + 8, bytes)
  }
}
