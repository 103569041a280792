package io.keyfold.format.wire

import java.nio.charset.StandardCharsets.UTF_8
import java.util

import io.keyfold.mem.{Mem, Slice}

/** Growing little-endian buffer. */
final class ByteSink(initial: Int = 256) {
  private var buffer = new Array[Byte](initial)
  private var used = 0

  def length: Int = used

  /** The buffer itself, of which the first [[length]] bytes are used. Valid until the next write.
    */
  def array: Array[Byte] = buffer

  def clear(): Unit = used = 0

  def u8(value: Int): Unit = {
    reserve(1)
    buffer(used) = value.toByte
    used += 1
  }

  /** @throws java.lang.IllegalArgumentException
    *   if it does not fit
    */
  def u16(value: Int): Unit = {
    require(value >= 0 && value <= 0xffff, s"Invalid number $value: it must be from 0 to 65535")
    u8(value)
    u8(value >>> 8)
  }

  def i32(value: Int): Unit = {
    reserve(4)
    Mem.putIntLe(buffer, Mem.ArrayOffset + used, value)
    used += 4
  }

  /** Overwrites the i32 that was written last. */
  def replaceLastI32(value: Int): Unit = {
    used -= 4
    i32(value)
  }

  def i64(value: Long): Unit = {
    i32(value.toInt)
    i32((value >>> 32).toInt)
  }

  def str(value: String): Unit = {
    val utf8 = value.getBytes(UTF_8)
    require(utf8.length <= 0xffff, s"Invalid string of ${utf8.length} bytes, at most 65535 fit")
    u16(utf8.length)
    bytes(utf8, utf8.length)
  }

  def bytes(source: Array[Byte], count: Int): Unit = {
    reserve(count)
    System.arraycopy(source, 0, buffer, used, count)
    used += count
  }

  def bytes(source: Slice): Unit = {
    reserve(source.length)
    Mem.copy(source.base, source.offset, buffer, Mem.ArrayOffset + used, source.length)
    used += source.length
  }

  /** The buffer, with room for `count` bytes after the first [[length]]; call [[advance]] with the
    * number written.
    */
  def room(count: Int): Array[Byte] = {
    reserve(count)
    buffer
  }

  def advance(count: Int): Unit = used += count

  def append(other: ByteSink): Unit = bytes(other.buffer, other.used)

  private def reserve(more: Int): Unit = {
    val needed = Math.addExact(used, more)
    if (needed > buffer.length) {
      val doubled = math.min(buffer.length.toLong * 2, Int.MaxValue - 8L).toInt
      buffer = util.Arrays.copyOf(buffer, math.max(doubled, needed))
    }
  }
}
