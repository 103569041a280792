package io.keyfold.map.value

import io.keyfold.mem.{Mem, Slice}
import io.keyfold.mem.arena.Addresses

/** The layout of a row in memory, and how to read it:
  *
  * {{{
  *   0  i32  hash of the row
  *   4  i32  length of the key in bytes
  *   8  i32  length of the value in bytes; -1: the row was removed, and a run may have it
  *  12  i32  epoch in which it was written; sign bit: escaped to a caller
  *  16       key, padded to 8 bytes
  *           value; with several values per key, their [[ValueHead]]
  * }}}
  *
  * A record is identified by its handle. A committed record never changes.
  */
private[map] final class Records(addresses: Addresses) {
  import Records._

  def hash(record: Int): Int = Mem.getInt(null, addresses.of(record))

  def epoch(record: Int): Int = Mem.getInt(null, addresses.of(record) + EpochAt) & ~Shown

  /** Reads a byte of each record as a prefetch. Records are scattered in memory, and the processor
    * fetches several at once only if the loads are independent.
    */
  def touch(list: IntList): Unit = {
    var sum = 0
    var i = 0
    while (i < list.size) {
      sum += Mem.getByte(null, addresses.of(list(i)))
      i += 1
    }
    touched = sum
  }
  private[map] var touched = 0

  def key(record: Int, into: Slice): Slice = {
    val at = addresses.of(record)
    into.set(null, at + HeaderLength, Mem.getInt(null, at + KeyLengthAt))
  }

  def value(record: Int, into: Slice): Slice = {
    val at = addresses.of(record)
    into.set(null, at + valueAt(at), Mem.getInt(null, at + ValueLengthAt))
  }

  /** Whether the record says only that its row was removed. */
  def isRemoved(record: Int): Boolean =
    Mem.getInt(null, addresses.of(record) + ValueLengthAt) < 0

  /** Bytes of key and value. */
  def bytes(record: Int): Int = {
    val at = addresses.of(record)
    Mem.getInt(null, at + KeyLengthAt) + Mem.getInt(null, at + ValueLengthAt)
  }

  def hasKey(record: Int, key: Slice): Boolean = {
    val at = addresses.of(record)
    Mem.getInt(null, at + KeyLengthAt) == key.length &&
    Mem.equal(null, at + HeaderLength, key.base, key.offset, key.length)
  }

  def sameKey(a: Int, b: Int): Boolean = {
    val at = addresses.of(a)
    val bt = addresses.of(b)
    val length = Mem.getInt(null, at + KeyLengthAt)
    length == Mem.getInt(null, bt + KeyLengthAt) &&
    Mem.equal(null, at + HeaderLength, null, bt + HeaderLength, length)
  }

  def compareKey(record: Int, key: Slice): Int = {
    val at = addresses.of(record)
    val length = Mem.getInt(null, at + KeyLengthAt)
    Mem.compare(null, at + HeaderLength, length, key.base, key.offset, key.length)
  }

  /** Whether the record was written after `epoch` and no caller has its bytes. */
  def isPrivate(record: Int, epoch: Int): Boolean =
    Mem.getInt(null, addresses.of(record) + EpochAt) > epoch

  /** Keeps the record's bytes from now on, if it was written after `epoch`: a caller has them. */
  def markEscaped(record: Int, epoch: Int): Unit = {
    val at = addresses.of(record) + EpochAt
    val written = Mem.getInt(null, at)
    if (written > epoch) Mem.putInt(null, at, written | Shown)
  }

  def write(record: Int, epoch: Int, hash: Int, key: Slice, value: Slice): Unit =
    writeValue(writeKey(record, epoch, hash, key), value)

  /** Writes a record of a removed row. */
  def writeRemoved(record: Int, epoch: Int, hash: Int, key: Slice): Unit =
    Mem.putInt(null, writeKey(record, epoch, hash, key) + ValueLengthAt, Removed)

  private def writeKey(record: Int, epoch: Int, hash: Int, key: Slice): Long = {
    val at = addresses.of(record)
    Mem.putInt(null, at, hash)
    Mem.putInt(null, at + KeyLengthAt, key.length)
    Mem.putInt(null, at + EpochAt, epoch)
    Mem.copy(key.base, key.offset, null, at + HeaderLength, key.length)
    at
  }

  /** Replaces the value by one that fits. */
  def overwrite(record: Int, value: Slice): Unit = writeValue(addresses.of(record), value)

  private def writeValue(at: Long, value: Slice): Unit = {
    Mem.putInt(null, at + ValueLengthAt, value.length)
    Mem.copy(value.base, value.offset, null, at + valueAt(at), value.length)
  }
}

private[map] object Records {
  private val KeyLengthAt = 4L
  private val ValueLengthAt = 8L
  private val EpochAt = 12L
  private val HeaderLength = 16L
  val Shown: Int = 1 << 31
  private val Removed = -1

  /** Bytes of a record.
    *
    * @throws java.lang.ArithmeticException
    *   if they exceed the size of an array
    */
  def size(key: Int, value: Int): Int =
    Math.addExact(Math.addExact(HeaderLength.toInt, padded(key)), value)

  private def valueAt(at: Long): Long = HeaderLength + padded(Mem.getInt(null, at + KeyLengthAt))

  private def padded(length: Int): Int = Math.addExact(length, 7) & ~7
}
