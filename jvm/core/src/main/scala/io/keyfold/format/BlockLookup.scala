package io.keyfold.format

import java.util.zip.CRC32C

import io.keyfold.format.wire.ByteSource
import io.keyfold.mem.{Mem, Slice}

/** Looks for a key in a block of a family with one value a key, and decodes nothing else:
  * docs/FORMAT.md, section 3.3. The block's checksum says that it is as it was written.
  *
  * @param length
  *   bytes of `raw` that are the block
  * @param isChange
  *   whether the file may have removes
  * @throws io.keyfold.errors.CorruptFile
  *   if counts and lengths do not add up, also from its methods
  */
final class BlockLookup private[format] (
    raw: Array[Byte],
    length: Int,
    expected: Int,
    isChange: Boolean,
    rowChecksums: Boolean,
    path: String,
    name: String
) {
  private val in = new ByteSource(raw, 0, length, path, name)
  private val size = in.count(Layout.EntryBytes)
  if (size != expected) in.fail(s"it has $size entries, its footer says $expected")
  private val values = in.count(Integer.BYTES)
  private val hashesAt = in.skip(size * Integer.BYTES)
  private val keyLengthsAt = in.skip(size * Integer.BYTES)
  private val valueCountsAt = in.skip(size * Integer.BYTES)
  private val valueLengthsAt = in.skip(values * Integer.BYTES)
  private val checksumsAt = if (rowChecksums) in.skip(size * Integer.BYTES) else -1
  private val typesAt = in.skip(size)
  private val keysAt = in.skip(0)

  /** @return
    *   the index of a key's entry, of those from `from` up to, not including, `until`; -1: none is
    */
  def find(hash: Int, key: Slice, from: Int, until: Int): Int = {
    if (until > size) in.fail(s"it has $size entries, not $until")
    var i = from
    while (i < until && !(column(hashesAt, i) == hash && hasKey(i, key))) i += 1
    if (i < until) i else -1
  }

  private def hasKey(i: Int, key: Slice): Boolean = column(keyLengthsAt, i) == key.length && {
    val at = checked(keysAt + sum(keyLengthsAt, i), key.length)
    Mem.equal(raw, Mem.ArrayOffset + at, key.base, key.offset, key.length)
  }

  /** The value of an entry.
    *
    * @return
    *   false if it says that the row was removed
    */
  def value(i: Int, into: Slice): Boolean = {
    val isPut = (raw(typesAt + i).toInt, column(valueCountsAt, i)) match {
      case (Layout.EntryType.Put, 1)                => true
      case (Layout.EntryType.Remove, 0) if isChange => false
      case (found, count) => in.fail(s"entry $i has type $found, $count values")
    }
    if (isPut) point(i, into) else into.set(raw, 0, 0)
    if (checksumsAt >= 0) check(i, into)
    isPut
  }

  private def point(i: Int, into: Slice): Unit = {
    val first = sum(valueCountsAt, i)
    if (first < 0 || first >= values) in.fail(s"entry $i has no value")
    val bytes = column(valueLengthsAt, first.toInt)
    val start = keysAt + sum(keyLengthsAt, size) + sum(valueLengthsAt, first.toInt)
    into.set(raw, checked(start, bytes), bytes)
    ()
  }

  /** As [[BlockEntries]] does. */
  private def check(i: Int, value: Slice): Unit = {
    val crc = new CRC32C
    val length = column(keyLengthsAt, i)
    crc.update(raw, checked(keysAt + sum(keyLengthsAt, i), length), length)
    crc.update(raw, (value.offset - Mem.ArrayOffset).toInt, value.length)
    if (crc.getValue.toInt != column(checksumsAt, i)) in.fail(s"entry $i has a wrong row checksum")
  }

  /** The hashes of all entries. */
  def hashes: Array[Int] = {
    val all = new Array[Int](size)
    var i = 0
    while (i < size) {
      all(i) = column(hashesAt, i)
      i += 1
    }
    all
  }

  private def checked(at: Long, bytes: Int): Int = {
    if (bytes < 0 || at < keysAt || at + bytes > length) in.fail("a row ends past the block")
    at.toInt
  }

  private def column(at: Int, i: Int): Int = ByteSource.i32(raw, at + i * Integer.BYTES)

  private def sum(at: Int, until: Int): Long = {
    var sum = 0L
    var i = 0
    while (i < until) {
      sum += column(at, i)
      i += 1
    }
    sum
  }
}
