package io.keyfold.mem

import java.nio.{Buffer, ByteOrder, MappedByteBuffer}

import sun.misc.Unsafe

/** The only user of Unsafe. Addresses are (base object or null, offset), see [[Slice]].
  *
  * Unchecked unless [[Checks]] is on: a wrong address reads foreign memory or crashes the JVM.
  * Addresses need no alignment. Every method may be called by any thread.
  */
object Mem {

  /** Set by `-Dkeyfold.mem.checks=true`, for tests. An access with a null base must then lie within
    * one piece of memory from [[allocate]] or [[addressOf]], and an access to an `Array[Byte]`
    * within the array; else IllegalStateException. (Off-heap memory allocated by others, as in
    * Spark's off-heap mode, is refused too.)
    */
  final val Checks: Boolean = java.lang.Boolean.getBoolean("keyfold.mem.checks")

  private val unsafe: Unsafe = {
    val field = classOf[Unsafe].getDeclaredField("theUnsafe")
    field.setAccessible(true)
    field.get(null).asInstanceOf[Unsafe]
  }

  /** Offset of element 0 of a byte array. */
  val ArrayOffset: Long = Unsafe.ARRAY_BYTE_BASE_OFFSET.toLong

  private val littleEndian = ByteOrder.nativeOrder == ByteOrder.LITTLE_ENDIAN

  private val bufferAddress =
    unsafe.objectFieldOffset(classOf[Buffer].getDeclaredField("address"))

  /** Absolute address of new off-heap memory, uninitialised and 16-byte aligned.
    *
    * @throws java.lang.OutOfMemoryError
    *   if the system refuses
    */
  def allocate(bytes: Long): Long = {
    val address = unsafe.allocateMemory(bytes)
    if (Checks) LiveMemory.add(address, bytes)
    address
  }

  /** Frees memory from [[allocate]]. */
  def free(address: Long): Unit = {
    if (Checks) LiveMemory.remove(address)
    unsafe.freeMemory(address)
  }

  /** Absolute address of a mapped file. The caller must keep the buffer reachable, or the mapping
    * goes with it, and must call [[unmap]] in the end.
    */
  def addressOf(buffer: MappedByteBuffer): Long = {
    val address = unsafe.getLong(buffer, bufferAddress)
    if (Checks) LiveMemory.add(address, buffer.capacity.toLong)
    address
  }

  /** Unmaps now, not when the buffer is collected. */
  def unmap(buffer: MappedByteBuffer): Unit = {
    if (Checks) LiveMemory.remove(unsafe.getLong(buffer, bufferAddress))
    unsafe.invokeCleaner(buffer)
  }

  def getByte(base: AnyRef, offset: Long): Byte = {
    check(base, offset, 1)
    unsafe.getByte(base, offset)
  }

  def putByte(base: AnyRef, offset: Long, value: Byte): Unit = {
    check(base, offset, 1)
    unsafe.putByte(base, offset, value)
  }

  /** Four bytes in native byte order. */
  def getInt(base: AnyRef, offset: Long): Int = {
    check(base, offset, 4)
    unsafe.getInt(base, offset)
  }

  def putInt(base: AnyRef, offset: Long, value: Int): Unit = {
    check(base, offset, 4)
    unsafe.putInt(base, offset, value)
  }

  /** Four bytes in little-endian order. */
  def getIntLe(base: AnyRef, offset: Long): Int = {
    val value = getInt(base, offset)
    if (littleEndian) value else Integer.reverseBytes(value)
  }

  def putIntLe(base: AnyRef, offset: Long, value: Int): Unit =
    putInt(base, offset, if (littleEndian) value else Integer.reverseBytes(value))

  /** Eight bytes in native byte order. */
  def getLong(base: AnyRef, offset: Long): Long = {
    check(base, offset, 8)
    unsafe.getLong(base, offset)
  }

  def putLong(base: AnyRef, offset: Long, value: Long): Unit = {
    check(base, offset, 8)
    unsafe.putLong(base, offset, value)
  }

  /** Sets every byte of an off-heap range. */
  def fill(address: Long, bytes: Long, value: Byte): Unit = {
    check(null, address, bytes)
    unsafe.setMemory(address, bytes, value)
  }

  /** Copies `length` bytes; the ranges must not overlap, unless they are the same. */
  def copy(from: AnyRef, fromOffset: Long, to: AnyRef, toOffset: Long, length: Int): Unit =
    if (length > ShortCopy) move(from, fromOffset, to, toOffset, length)
    else {
      check(from, fromOffset, length.toLong)
      check(to, toOffset, length.toLong)
      val words = length & ~7
      var i = 0
      while (i < words) {
        unsafe.putLong(to, toOffset + i, unsafe.getLong(from, fromOffset + i))
        i += 8
      }
      while (i < length) {
        unsafe.putByte(to, toOffset + i, unsafe.getByte(from, fromOffset + i))
        i += 1
      }
    }

  /** Copies `length` bytes; the ranges may overlap. */
  def move(from: AnyRef, fromOffset: Long, to: AnyRef, toOffset: Long, length: Int): Unit = {
    check(from, fromOffset, length.toLong)
    check(to, toOffset, length.toLong)
    unsafe.copyMemory(from, fromOffset, to, toOffset, length.toLong)
  }

  /** Up to this length a loop is faster than a call of `copyMemory`. */
  private final val ShortCopy = 128

  /** Whether two ranges of `length` bytes are equal. */
  def equal(a: AnyRef, aOffset: Long, b: AnyRef, bOffset: Long, length: Int): Boolean = {
    check(a, aOffset, length.toLong)
    check(b, bOffset, length.toLong)
    val words = length & ~7
    var i = 0
    while (i < words) {
      if (unsafe.getLong(a, aOffset + i) != unsafe.getLong(b, bOffset + i)) return false
      i += 8
    }
    while (i < length) {
      if (unsafe.getByte(a, aOffset + i) != unsafe.getByte(b, bOffset + i)) return false
      i += 1
    }
    true
  }

  /** Compares as unsigned bytes, and by length if one range is a prefix of the other.
    *
    * @return
    *   below 0, 0 or above 0
    */
  def compare(
      a: AnyRef,
      aOffset: Long,
      aLength: Int,
      b: AnyRef,
      bOffset: Long,
      bLength: Int
  ): Int = {
    check(a, aOffset, aLength.toLong)
    check(b, bOffset, bLength.toLong)
    val common = math.min(aLength, bLength)
    val words = common & ~7
    var i = 0
    while (i < words) {
      val x = unsafe.getLong(a, aOffset + i)
      val y = unsafe.getLong(b, bOffset + i)
      // The first differing byte decides, so it must be the most significant one of the word.
      if (x != y) {
        return if (littleEndian)
          java.lang.Long.compareUnsigned(
            java.lang.Long.reverseBytes(x),
            java.lang.Long.reverseBytes(y)
          )
        else java.lang.Long.compareUnsigned(x, y)
      }
      i += 8
    }
    while (i < common) {
      val order = (unsafe.getByte(a, aOffset + i) & 0xff) - (unsafe.getByte(b, bOffset + i) & 0xff)
      if (order != 0) return order
      i += 1
    }
    Integer.compare(aLength, bLength)
  }

  /** Keyed hash of a range, independent of its address. For tables in memory only: words are read
    * in native byte order, so the hash must not be stored. Collisions cannot be chosen without the
    * key.
    *
    * Multiplies sixteen bytes at a time under the key and folds the halves of the product: the step
    * of Wang Yi's wyhash and Orson Peters' foldhash, here without publicly known constants.
    */
  def hash(base: AnyRef, offset: Long, length: Int, key0: Long, key1: Long): Long = {
    check(base, offset, length.toLong)
    val last = offset + length - 16
    var h = key0
    var at = offset
    while (at < last) {
      h = folded(unsafe.getLong(base, at) ^ h, unsafe.getLong(base, at + 8) ^ key1)
      at += 16
    }
    // The last 16 bytes, which may overlap those before.
    h =
      if (length < 8) folded(lessThanWord(base, offset, length) ^ h, key1)
      else
        folded(
          unsafe.getLong(base, Math.max(offset, last)) ^ h,
          unsafe.getLong(base, last + 8) ^ key1
        )
    folded(h ^ length, java.lang.Long.rotateLeft(key1, 32))
  }

  private def lessThanWord(base: AnyRef, offset: Long, length: Int): Long = {
    var word = 0L
    var i = 0
    while (i < length) {
      word = word << 8 | (unsafe.getByte(base, offset + i) & 0xffL)
      i += 1
    }
    word
  }

  /** An unsigned product: in a signed one, two factors that both change sign give the same result.
    */
  private def folded(a: Long, b: Long): Long =
    (Math.multiplyHigh(a, b) + ((a >> 63) & b) + ((b >> 63) & a)) ^ (a * b)

  private def check(base: AnyRef, offset: Long, length: Long): Unit =
    if (Checks) LiveMemory.check(base, offset, length)
}
