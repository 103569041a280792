package io.keyfold.map.cold

import io.keyfold.format.wire.ByteSink
import io.keyfold.mem.{Mem, Slice}

/** A row in a block of a run or a leaf:
  *
  * {{{
  *   i32     hash of the row
  *   varint  length of the key in bytes; times 2, plus 1 if the transaction that wrote the block changed the row
  *   varint  number of values; 0: the row was removed
  *           key, packed
  *           for each value: varint its length in bytes, then the value, packed
  * }}}
  *
  * Slices that it hands out are on the heap and stay valid.
  */
private[map] final class ColdRow {
  import ColdRow._

  /** The row's partition hash, not the hash by which runs are ordered. */
  var hash = 0
  var isChanged = false
  var keyLength = 0

  /** Number of values; 0: the row was removed. */
  var values = 0

  private var block: Array[Byte] = _
  private var start = 0
  private var end = 0
  private var keyAt = 0
  private var at = 0
  private var left = 0
  private var scratch = Array.emptyByteArray

  def isRemoved: Boolean = values == 0

  /** Points to a row, before its first value. */
  def set(bytes: Array[Byte], from: Int, until: Int): Unit = {
    block = bytes
    start = from
    end = until
    hash = Mem.getIntLe(bytes, Mem.ArrayOffset + from)
    at = from + 4
    val length = varint()
    isChanged = (length & 1) != 0
    keyLength = (length >>> 1).toInt
    values = varint().toInt
    left = values
    keyAt = at
    at = Packing.skip(bytes, at, keyLength)
  }

  def hasKey(key: Slice): Boolean =
    keyLength == key.length && Packing.isPacked(block, keyAt, key)

  /** Compares the key's bytes as unsigned numbers. */
  def compareKey(key: Slice): Int = {
    if (scratch.length < keyLength) scratch = new Array[Byte](math.max(keyLength, 64))
    Packing.unpack(block, keyAt, keyLength, scratch)
    Mem.compare(scratch, Mem.ArrayOffset, keyLength, key.base, key.offset, key.length)
  }

  def key(into: Slice): Slice = {
    val bytes = new Array[Byte](keyLength)
    Packing.unpack(block, keyAt, keyLength, bytes)
    into.set(bytes)
  }

  /** Steps to the next value, oldest first. */
  def nextValue(into: Slice): Boolean = left > 0 && {
    left -= 1
    val bytes = new Array[Byte](varint().toInt)
    at = Packing.unpack(block, at, bytes.length, bytes)
    into.set(bytes)
    true
  }

  /** Bytes of all values that were not stepped to. */
  def valueBytes: Long = {
    val (from, count) = (at, left)
    var bytes = 0L
    while (left > 0) {
      left -= 1
      val length = varint().toInt
      bytes += length
      at = Packing.skip(block, at, length)
    }
    at = from
    left = count
    bytes
  }

  /** Adds the row as it is, except for the mark of a change. */
  def copyTo(entries: ByteSink, changed: Boolean): Unit = {
    val length = end - start
    val room = entries.room(length)
    System.arraycopy(block, start, room, entries.length, length)
    val mark = entries.length + MarkAt
    room(mark) = (room(mark) & ~1 | (if (changed) 1 else 0)).toByte
    entries.advance(length)
  }

  private def varint(): Long = {
    var byte = block(at)
    at += 1
    var value = (byte & 0x7f).toLong
    var shift = 7
    while (byte < 0) {
      byte = block(at)
      at += 1
      value |= (byte & 0x7fL) << shift
      shift += 7
    }
    value
  }
}

private[map] object ColdRow {

  /** The first byte of the key's length, which has the mark of a change. */
  private val MarkAt = 4

  /** A row with one value, which was not changed. */
  def of(hash: Int, key: Slice, value: Slice): ColdRow = {
    val entry = new ByteSink(key.length + value.length + 32)
    begin(entry, hash, key, changed = false, values = 1)
    addValue(entry, value)
    val row = new ColdRow
    row.set(entry.array, 0, entry.length)
    row
  }

  /** Begins a row; its values are added by [[addValue]].
    *
    * @param values
    *   0: the row was removed
    */
  def begin(entries: ByteSink, hash: Int, key: Slice, changed: Boolean, values: Int): Unit = {
    entries.i32(hash)
    varint(entries, key.length.toLong << 1 | (if (changed) 1 else 0))
    varint(entries, values.toLong)
    Packing.pack(key, entries)
  }

  def addValue(entries: ByteSink, value: Slice): Unit = {
    varint(entries, value.length.toLong)
    Packing.pack(value, entries)
  }

  private def varint(to: ByteSink, value: Long): Unit = {
    var left = value
    while (left > 0x7f) {
      to.u8((left & 0x7f | 0x80).toInt)
      left >>>= 7
    }
    to.u8(left.toInt)
  }
}
