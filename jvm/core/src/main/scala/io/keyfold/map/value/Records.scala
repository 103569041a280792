package io.keyfold.map.value

import io.keyfold.mem.{Mem, Slice}
import io.keyfold.mem.arena.Addresses

/** The layout of a row in memory, and how to read it:
  *
  * {{{
  *   0  i32  hash of the row
  *   4  i32  lengths in bytes: of the key in 12 bits, of the value in 19, sign bit 0
  *   8  i32  epoch in which it was written; sign bit: escaped to a caller
  *  12  i32  link: in a hash table, see `map.hash.HashTable`; otherwise 0, or -1 if the base of the
  *           transaction that wrote the record has its row too, in a cold leaf
  *  16       key, padded to 8 bytes
  *           value; with several values per key, their [[ValueHead]]
  * }}}
  *
  * If a length has more bits, the sign bit is set, the lengths are two i32 from 16 on, and the key
  * is at 24. A value of the length [[Records.Removed]] says that the row was removed, and a run may
  * have it; one of [[Records.Moved]] that a run has it.
  *
  * A record is identified by its handle. A committed record never changes, but for its link.
  */
private[map] final class Records(val addresses: Addresses) {
  import Records._

  def hash(record: Int): Int = Mem.getInt(null, addresses.of(record))

  def epoch(record: Int): Int = Mem.getInt(null, addresses.of(record) + EpochAt) & ~Shown

  def link(record: Int): Int = Mem.getInt(null, addresses.of(record) + LinkAt)

  def setLink(record: Int, link: Int): Unit =
    Mem.putInt(null, addresses.of(record) + LinkAt, link)

  /** Whether a transaction's base has the row of a record of an ordered family.
    *
    * @param epoch
    *   the base's last
    */
  def isOfBase(record: Int, epoch: Int): Boolean =
    this.epoch(record) <= epoch || link(record) == OfBase

  def markOfBase(record: Int): Unit = setLink(record, OfBase)

  /** Reads a byte of each record as a prefetch. Records are scattered in memory, and the processor
    * fetches several at once only if the loads are independent.
    */
  def touch(list: IntList): Unit = touch(list, 0, list.size)

  /** Those with an index from `from` until `until`; 0 is no record. */
  def touch(list: IntList, from: Int, until: Int): Unit = {
    var sum = 0
    var i = from
    while (i < until) {
      if (list(i) != 0) sum += Mem.getByte(null, addresses.of(list(i)))
      i += 1
    }
    touched = sum
  }
  private[map] var touched = 0

  def key(record: Int, into: Slice): Slice = {
    val at = addresses.of(record)
    into.set(null, keyAt(at), keyLength(at))
  }

  def value(record: Int, into: Slice): Slice = {
    val at = addresses.of(record)
    into.set(null, valueAt(at), valueLength(at))
  }

  /** Whether the record says only that its row was removed. */
  def isRemoved(record: Int): Boolean = valueLength(addresses.of(record)) == Removed

  /** Whether the record says only that its row is in a run. */
  def isMoved(record: Int): Boolean = valueLength(addresses.of(record)) == Moved

  /** Whether it has a value. */
  def isRow(record: Int): Boolean = valueLength(addresses.of(record)) >= 0

  /** Bytes of key and value. */
  def bytes(record: Int): Int = {
    val at = addresses.of(record)
    keyLength(at) + valueLength(at)
  }

  def hasKey(record: Int, key: Slice): Boolean = {
    val at = addresses.of(record)
    keyLength(at) == key.length && Mem.equal(null, keyAt(at), key.base, key.offset, key.length)
  }

  def compareKey(record: Int, key: Slice): Int = {
    val at = addresses.of(record)
    Mem.compare(null, keyAt(at), keyLength(at), key.base, key.offset, key.length)
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

  def write(record: Int, epoch: Int, hash: Int, key: Slice, value: Slice): Unit = {
    val at = writeKey(record, epoch, hash, key, value.length)
    Mem.copy(value.base, value.offset, null, valueAt(at), value.length)
  }

  /** Writes a record without a value.
    *
    * @param mark
    *   [[Records.Removed]] or [[Records.Moved]]
    */
  def writeMark(record: Int, epoch: Int, hash: Int, key: Slice, mark: Int): Unit = {
    writeKey(record, epoch, hash, key, mark)
    ()
  }

  private def writeKey(record: Int, epoch: Int, hash: Int, key: Slice, valueLength: Int): Long = {
    val at = addresses.of(record)
    Mem.putInt(null, at, hash)
    Mem.putInt(null, at + EpochAt, epoch)
    Mem.putInt(null, at + LinkAt, 0)
    val isLong = Records.isLong(key.length, valueLength)
    Mem.putInt(null, at + LengthsAt, if (isLong) Long else 0)
    if (isLong) Mem.putInt(null, at + HeaderLength, key.length)
    writeLengths(at, key.length, valueLength)
    Mem.copy(key.base, key.offset, null, keyAt(at), key.length)
    at
  }

  private def writeLengths(at: Long, key: Int, value: Int): Unit =
    if (Mem.getInt(null, at + LengthsAt) == Long) Mem.putInt(null, at + HeaderLength + 4, value)
    else Mem.putInt(null, at + LengthsAt, key << ValueBits | (value & ValueMask))

  /** Replaces the value by one for which [[Records.size]] and [[Records.isLong]] are the same. */
  def overwrite(record: Int, value: Slice): Unit = {
    val at = addresses.of(record)
    writeLengths(at, keyLength(at), value.length)
    Mem.copy(value.base, value.offset, null, valueAt(at), value.length)
  }

  private def keyLength(at: Long): Int = {
    val lengths = Mem.getInt(null, at + LengthsAt)
    if (lengths >= 0) lengths >>> ValueBits else Mem.getInt(null, at + HeaderLength)
  }

  private def valueLength(at: Long): Int = {
    val lengths = Mem.getInt(null, at + LengthsAt)
    if (lengths < 0) Mem.getInt(null, at + HeaderLength + 4)
    else {
      val length = lengths & ValueMask
      if (length < LeastMark) length else length - ValueMask - 1
    }
  }

  private def keyAt(at: Long): Long =
    if (Mem.getInt(null, at + LengthsAt) >= 0) at + HeaderLength else at + LongHeader

  private def valueAt(at: Long): Long = keyAt(at) + padded(keyLength(at))
}

private[map] object Records {
  private val LengthsAt = 4L
  private val EpochAt = 8L
  private val LinkAt = 12L
  private val HeaderLength = 16
  private val LongHeader = 24

  /** In the place of a link; no record has this handle. */
  private val OfBase = -1

  private val ValueBits = 19
  private val ValueMask = (1 << ValueBits) - 1
  private val KeyBits = 12

  /** In the place of the lengths of a record that has longer ones. */
  private val Long = 1 << 31

  val Shown: Int = 1 << 31

  /** Lengths of no value. */
  val Removed: Int = -1
  val Moved: Int = -2
  private val LeastMark = ValueMask - 1

  /** Bytes of a record.
    *
    * @param value
    *   0 or less: none
    * @throws java.lang.ArithmeticException
    *   if they exceed the size of an array
    */
  def size(key: Int, value: Int): Int = Math.addExact(
    Math.addExact(if (isLong(key, value)) LongHeader else HeaderLength, padded(key)),
    math.max(value, 0)
  )

  /** Whether the lengths have more bits than usual. */
  def isLong(key: Int, value: Int): Boolean = key >>> KeyBits != 0 || value >= LeastMark

  private def padded(length: Int): Int = Math.addExact(length, 7) & ~7
}
