package io.keyfold.map.cold

import io.keyfold.format.wire.ByteSink
import io.keyfold.mem.{Mem, Slice}

/** Packs the bytes of rows, of which many are zero: for each word of 8 bytes, one byte says which
  * of its bytes are not zero, and these follow. A rest of less than 8 bytes follows as it is. This
  * is the packing of Cap'n Proto, without its counts of equal words.
  */
private[map] object Packing {

  def pack(from: Slice, to: ByteSink): Unit = {
    val words = from.length & ~7
    var i = 0
    while (i < words) {
      packWord(Mem.getLong(from.base, from.offset + i), to)
      i += 8
    }
    while (i < from.length) {
      to.u8(Mem.getByte(from.base, from.offset + i).toInt)
      i += 1
    }
  }

  private def packWord(word: Long, to: ByteSink): Unit = {
    val room = to.room(9)
    val start = to.length
    var at = start + 1
    var tag = 0
    var left = word
    var bit = 1
    while (left != 0L) {
      if ((left & 0xff) != 0) {
        room(at) = left.toByte
        at += 1
        tag |= bit
      }
      left >>>= 8
      bit <<= 1
    }
    room(start) = tag.toByte
    to.advance(at - start)
  }

  /** Unpacks `length` bytes.
    *
    * @return
    *   index behind the packed bytes
    */
  def unpack(packed: Array[Byte], from: Int, length: Int, into: Array[Byte]): Int = {
    val words = length & ~7
    var at = from
    var i = 0
    while (i < words) {
      Mem.putLong(into, Mem.ArrayOffset + i, word(packed, at))
      at += wordLength(packed, at)
      i += 8
    }
    System.arraycopy(packed, at, into, i, length - i)
    at + length - i
  }

  /** Index behind `length` packed bytes. */
  def skip(packed: Array[Byte], from: Int, length: Int): Int = {
    val words = length & ~7
    var at = from
    var i = 0
    while (i < words) {
      at += wordLength(packed, at)
      i += 8
    }
    at + length - i
  }

  /** Whether the packed bytes are these. */
  def isPacked(packed: Array[Byte], from: Int, bytes: Slice): Boolean = {
    val words = bytes.length & ~7
    var at = from
    var i = 0
    while (i < words) {
      if (word(packed, at) != Mem.getLong(bytes.base, bytes.offset + i)) return false
      at += wordLength(packed, at)
      i += 8
    }
    val rest = bytes.length - i
    Mem.equal(packed, Mem.ArrayOffset + at, bytes.base, bytes.offset + i, rest)
  }

  private def wordLength(packed: Array[Byte], at: Int): Int =
    1 + Integer.bitCount(packed(at) & 0xff)

  private def word(packed: Array[Byte], at: Int): Long = {
    var tag = packed(at) & 0xff
    var from = at + 1
    var word = 0L
    while (tag != 0) {
      val shift = Integer.numberOfTrailingZeros(tag) << 3
      word |= (packed(from) & 0xffL) << shift
      from += 1
      tag &= tag - 1
    }
    word
  }
}
