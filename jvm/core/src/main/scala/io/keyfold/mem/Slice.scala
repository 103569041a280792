package io.keyfold.mem

/** Reusable pointer to a run of bytes: `length` bytes from `offset`, relative to the start of the
  * object `base`, or an absolute address when `base` is null. The same addressing as `UnsafeRow`'s,
  * so that a row passes through without a copy.
  *
  * Borrowed: whoever hands one out says how long the bytes stay.
  */
final class Slice(var base: AnyRef, var offset: Long, var length: Int) {
  def this() = this(null, 0L, 0)

  def set(newBase: AnyRef, newOffset: Long, newLength: Int): this.type = {
    base = newBase
    offset = newOffset
    length = newLength
    this
  }

  def set(bytes: Array[Byte]): this.type = set(bytes, Mem.ArrayOffset, bytes.length)

  def set(bytes: Array[Byte], from: Int, count: Int): this.type =
    set(bytes, Mem.ArrayOffset + from, count)

  /** A new array with a copy of the bytes. */
  def toArray: Array[Byte] = {
    val copy = new Array[Byte](length)
    Mem.copy(base, offset, copy, Mem.ArrayOffset, length)
    copy
  }
}
