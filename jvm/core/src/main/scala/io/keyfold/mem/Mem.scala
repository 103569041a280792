package io.keyfold.mem

import sun.misc.Unsafe

/** The only user of Unsafe. Addresses are (base object or null, offset), see [[Slice]]. */
object Mem {
  private val unsafe: Unsafe = {
    val field = classOf[Unsafe].getDeclaredField("theUnsafe")
    field.setAccessible(true)
    field.get(null).asInstanceOf[Unsafe]
  }

  /** Offset of element 0 of a byte array. */
  val ArrayOffset: Long = Unsafe.ARRAY_BYTE_BASE_OFFSET.toLong

  /** Copies `length` bytes; the ranges must not overlap. */
  def copy(from: AnyRef, fromOffset: Long, to: AnyRef, toOffset: Long, length: Int): Unit =
    unsafe.copyMemory(from, fromOffset, to, toOffset, length.toLong)

  /** Four bytes in the machine's order. */
  def getInt(base: AnyRef, offset: Long): Int = unsafe.getInt(base, offset)
  def putInt(base: AnyRef, offset: Long, value: Int): Unit = unsafe.putInt(base, offset, value)
}
