package io.keyfold.mem

/** Reusable pointer to a run of bytes: `length` bytes from `offset`, relative to the start of the
  * object `base`, or an absolute address when `base` is null. The addressing is that of
  * `UnsafeRow`, so rows need no copy.
  *
  * Borrowed: the provider of a slice says how long its bytes stay valid.
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

  /** Copies the bytes to a new array. */
  def toArray: Array[Byte] = {
    val copy = new Array[Byte](length)
    Mem.copy(base, offset, copy, Mem.ArrayOffset, length)
    copy
  }
}
