package io.keyfold.format

import io.keyfold.format.wire.ByteSource
import io.keyfold.mem.{BloomFilter, Mem, Slice}

/** Looks for a key in a block of a family with one value a key, and decodes nothing else:
  * docs/FORMAT.md, section 3.3. The block's checksum says that it is as it was written.
  *
  * @param length
  *   bytes of `raw` that are the block
  * @throws io.keyfold.errors.CorruptFile
  *   if counts and lengths do not add up, also from its methods
  */
final class BlockLookup private[format] (
    raw: Array[Byte],
    length: Int,
    expected: Int,
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
  if (rowChecksums) in.skip(size * Integer.BYTES)
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
  def value(i: Int, into: Slice): Boolean = raw(typesAt + i) == Layout.EntryType.Put && {
    val first = sum(valueCountsAt, i)
    if (column(valueCountsAt, i) != 1 || first < 0 || first >= values)
      in.fail(s"entry $i has not one value")
    val bytes = column(valueLengthsAt, first.toInt)
    val start = keysAt + sum(keyLengthsAt, size) + sum(valueLengthsAt, first.toInt)
    into.set(raw, checked(start, bytes), bytes)
    true
  }

  /** A [[io.keyfold.mem.BloomFilter]] of the hashes of all entries. */
  def newFilter(): Array[Byte] = {
    val lines = BloomFilter.linesFor(size)
    val filter = new Array[Byte](lines * BloomFilter.LineBytes)
    var i = 0
    while (i < size) {
      BloomFilter.add(filter, Mem.ArrayOffset, lines, column(hashesAt, i))
      i += 1
    }
    filter
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
