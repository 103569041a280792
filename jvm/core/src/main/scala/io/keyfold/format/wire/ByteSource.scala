package io.keyfold.format.wire

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.StandardCharsets.UTF_8

import io.keyfold.errors.CorruptFile
import io.keyfold.mem.Mem

/** Little-endian reader over bytes from a file. Every read is bounds-checked.
  *
  * @param path
  *   and `part` name the place in the [[CorruptFile]] that a failed check throws
  */
final class ByteSource(bytes: Array[Byte], from: Int, until: Int, path: String, part: String) {
  private var at = from

  def remaining: Int = until - at

  def u8(): Int = {
    need(1, 1)
    val value = bytes(at) & 0xff
    at += 1
    value
  }

  def u16(): Int = u8() | u8() << 8

  def i32(): Int = {
    need(1, 4)
    val value = ByteSource.i32(bytes, at)
    at += 4
    value
  }

  def i64(): Long = (i32() & 0xffffffffL) | i32().toLong << 32

  def str(): String = {
    val length = u16()
    need(length, 1)
    val utf8 = ByteBuffer.wrap(bytes, at, length)
    at += length
    try UTF_8.newDecoder().decode(utf8).toString
    catch { case e: CharacterCodingException => fail(s"a text is not UTF-8: ${e.getMessage}") }
  }

  /** Reads a u32, the number of following elements of at least `width` bytes each. */
  def count(width: Int): Int = {
    val n = i32()
    need(n, width)
    n
  }

  /** Reads a u32 that must fit a signed int. */
  def length(): Int = {
    val n = i32()
    if (n < 0) fail(s"length ${n & 0xffffffffL} is out of range")
    n
  }

  /** Reads a column of `n` int32. */
  def ints(n: Int): Array[Int] = {
    need(n, 4)
    val column = new Array[Int](n)
    var i = 0
    while (i < n) {
      column(i) = ByteSource.i32(bytes, at + i * 4)
      i += 1
    }
    at += n * 4
    column
  }

  /** Skips `n` bytes and returns their position. */
  def skip(n: Int): Int = {
    need(n, 1)
    val position = at
    at += n
    position
  }

  /** The next `n` bytes as a separate source. */
  def part(n: Int, name: String): ByteSource = {
    val start = skip(n)
    new ByteSource(bytes, start, start + n, path, name)
  }

  def end(): Unit = if (remaining != 0) fail(s"$remaining bytes are left over")

  def fail(detail: String): Nothing = throw new CorruptFile(path, s"$part: $detail")

  private def need(n: Int, width: Int): Unit =
    if (n < 0 || n.toLong * width > remaining) {
      fail(s"${n & 0xffffffffL} elements of $width bytes do not fit the $remaining bytes left")
    }
}

object ByteSource {

  /** @param at
    *   not checked: from 0 to the number of bytes less 4
    */
  def i32(bytes: Array[Byte], at: Int): Int = Mem.getIntLe(bytes, Mem.ArrayOffset + at)
}
