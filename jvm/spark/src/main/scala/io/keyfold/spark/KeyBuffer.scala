package io.keyfold.spark

import io.keyfold.mem.{Mem, Slice}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Bytes of a key while it is put together; reused. */
private final class KeyBuffer {
  private val slice = new Slice
  private var bytes = new Array[Byte](64)
  private var length = 0

  def clear(): KeyBuffer = {
    length = 0
    this
  }

  def u8(value: Int): Unit = {
    reserve(1)
    bytes(length) = value.toByte
    length += 1
  }

  /** Little-endian. */
  def i32(value: Int): Unit = {
    reserve(4)
    Platform.putInt(bytes, Mem.ArrayOffset + length, value)
    length += 4
  }

  /** The lower `width` bytes, the highest one first. */
  def bigEndian(value: Long, width: Int): Unit = {
    reserve(width)
    var i = width - 1
    while (i >= 0) {
      bytes(length) = (value >>> (i * 8)).toByte
      length += 1
      i -= 1
    }
  }

  def row(row: UnsafeRow): Unit = {
    reserve(row.getSizeInBytes)
    row.writeToMemory(bytes, Mem.ArrayOffset + length)
    length += row.getSizeInBytes
  }

  /** What was put, borrowed until the next `clear`. */
  def result: Slice = slice.set(bytes, 0, length)

  private def reserve(more: Int): Unit =
    if (bytes.length - length < more) {
      bytes = java.util.Arrays.copyOf(bytes, math.max(length + more, bytes.length) * 2)
    }
}

private object KeyBuffer {

  /** What `bigEndian` has written at `offset`, sign-extended. */
  def bigEndian(from: Slice, offset: Int, width: Int): Long = {
    var value = Platform.getByte(from.base, from.offset + offset).toLong
    var i = 1
    while (i < width) {
      value = value << 8 | (Platform.getByte(from.base, from.offset + offset + i) & 0xff)
      i += 1
    }
    value
  }
}
