package io.keyfold.spark.encoding

import io.keyfold.format.wire.ByteSink
import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Reusable buffer to build the bytes of a key. */
private final class KeyBuffer {
  private val bytes = new ByteSink(64)
  private val slice = new Slice

  def clear(): KeyBuffer = {
    bytes.clear()
    this
  }

  def u8(value: Int): Unit = bytes.u8(value)

  /** Little-endian. */
  def i32(value: Int): Unit = bytes.i32(value)

  /** The lower `width` bytes, most significant first. */
  def bigEndian(value: Long, width: Int): Unit = {
    var i = width - 1
    while (i >= 0) {
      bytes.u8((value >>> (i * 8)).toInt)
      i -= 1
    }
  }

  def row(row: UnsafeRow): Unit = bytes.bytes(RowBytes.slice(row, slice))

  /** The bytes written, borrowed until the next `clear`. */
  def result: Slice = slice.set(bytes.array, 0, bytes.length)
}

private object KeyBuffer {

  /** Reads a value that `bigEndian` wrote at `offset`, sign-extended. */
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
