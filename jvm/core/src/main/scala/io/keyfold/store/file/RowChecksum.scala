package io.keyfold.store.file

import java.util.zip.CRC32C

import io.keyfold.errors.CorruptRow
import io.keyfold.map.{CursorOver, RowCursor}
import io.keyfold.mem.{Mem, Slice}
import io.keyfold.model.{Family, StoreLocation}

/** How values are stored in memory: as they are, or each followed by a checksum of key and value,
  * so that a row damaged in memory is detected when it is read or written to a file.
  *
  * Not thread-safe. The result of `append` is borrowed until its next call.
  */
private[store] sealed trait RowChecksum {

  /** The value as stored in memory, borrowed until the next call. */
  def append(key: Slice, value: Slice): Slice

  /** Shortens a stored value to the value that was put. */
  def strip(stored: Slice): Unit

  /** @throws io.keyfold.errors.CorruptRow
    *   if the checksum does not match key and stored value
    */
  def verify(key: Slice, stored: Slice): Unit

  /** Strips a value that is read, and verifies every `verifyEvery`-th one. */
  def read(key: Slice, stored: Slice): Unit

  /** A cursor whose values are stripped. */
  def reading(cursor: RowCursor): RowCursor

  /** A family whose byte count excludes the checksums. */
  def withoutChecksums(family: Family): Family

  /** A family whose byte count includes the checksums. */
  def withChecksums(family: Family): Family
}

private[store] object RowChecksum {

  /** @param onDamage
    *   called when a damaged row is found, before the error is thrown
    */
  def of(
      checksums: Option[RowChecksumSettings],
      location: StoreLocation,
      onDamage: () => Unit
  ): RowChecksum =
    checksums.fold[RowChecksum](NoChecksum)(c =>
      new Crc32cChecksum(c.verifyEvery, location, onDamage)
    )
}

private object NoChecksum extends RowChecksum {
  override def append(key: Slice, value: Slice): Slice = value
  override def strip(stored: Slice): Unit = ()
  override def verify(key: Slice, stored: Slice): Unit = ()
  override def read(key: Slice, stored: Slice): Unit = ()
  override def reading(cursor: RowCursor): RowCursor = cursor
  override def withoutChecksums(family: Family): Family = family
  override def withChecksums(family: Family): Family = family
}

private final class Crc32cChecksum(verifyEvery: Long, location: StoreLocation, onDamage: () => Unit)
    extends RowChecksum {
  private val crc = new CRC32C
  private val appended = new Slice
  private var buffer = new Array[Byte](256)
  private var reads = 0L

  override def append(key: Slice, value: Slice): Slice = {
    val checksum = checksumOf(key, value, value.length)
    Mem.putInt(buffer, Mem.ArrayOffset + key.length + value.length, checksum)
    appended.set(buffer, key.length, value.length + Integer.BYTES)
  }

  override def strip(stored: Slice): Unit = stored.length -= Integer.BYTES

  override def verify(key: Slice, stored: Slice): Unit = {
    val length = stored.length - Integer.BYTES
    val expected = Mem.getInt(stored.base, stored.offset + length)
    val computed = checksumOf(key, stored, length)
    if (computed != expected) {
      onDamage()
      throw new CorruptRow(location.toString, expected, computed)
    }
  }

  override def read(key: Slice, stored: Slice): Unit = {
    reads += 1
    if (verifyEvery > 0 && reads % verifyEvery == 0) verify(key, stored)
    strip(stored)
  }

  override def reading(cursor: RowCursor): RowCursor = new CursorOver(cursor) {
    override def next(): Boolean = cursor.next() && {
      read(key, value)
      true
    }
    override def nextValue(): Boolean = cursor.nextValue() && {
      read(key, value)
      true
    }
  }

  override def withoutChecksums(family: Family): Family =
    family.copy(bytes = family.bytes - family.values * Integer.BYTES)

  override def withChecksums(family: Family): Family =
    family.copy(bytes = family.bytes + family.values * Integer.BYTES)

  /** Leaves key and value in the buffer, in this order, with room for a checksum. */
  private def checksumOf(key: Slice, value: Slice, valueLength: Int): Int = {
    val length = key.length + valueLength
    if (buffer.length < length + Integer.BYTES) {
      buffer = new Array[Byte](math.min(length * 2L, Int.MaxValue - 8L).toInt)
    }
    Mem.copy(key.base, key.offset, buffer, Mem.ArrayOffset, key.length)
    Mem.copy(value.base, value.offset, buffer, Mem.ArrayOffset + key.length, valueLength)
    crc.reset()
    crc.update(buffer, 0, length)
    crc.getValue.toInt
  }
}
