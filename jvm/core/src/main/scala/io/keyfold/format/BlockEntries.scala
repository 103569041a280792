package io.keyfold.format

import java.util.Arrays
import java.util.zip.CRC32C

import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.ByteSource
import io.keyfold.mem.Slice

/** The entries of a block, decoded and checked: docs/FORMAT.md, section 3.3.
  *
  * Keys and values point into the block's bytes and stay valid as long as this object.
  *
  * @param continued
  *   whether entries of the file may continue the one before them
  * @throws io.keyfold.errors.CorruptFile
  *   from the constructor, if counts and lengths do not add up
  */
final class BlockEntries private[format] (
    private val raw: Array[Byte],
    expected: Int,
    kind: FileKind,
    continued: Boolean,
    multiValue: Boolean,
    rowChecksums: Boolean,
    path: String,
    name: String
) {
  private val in = new ByteSource(raw, 0, raw.length, path, name)

  /** Number of entries. */
  val size: Int = in.count(Layout.EntryBytes)
  if (size != expected) in.fail(s"it has $size entries, its footer says $expected")
  private val valueTotal = in.count(4)
  private val hashes = in.ints(size)
  private val keyLengths = in.ints(size)
  private val valueCounts = in.ints(size)
  private val valueLengths = in.ints(valueTotal)
  private val checksums = if (rowChecksums) in.ints(size) else Array.emptyIntArray
  private val typesAt = in.skip(size)
  private val keyStarts = starts(keyLengths)
  private val valueStarts = starts(valueLengths)
  private val firstValue = starts(valueCounts, 0L)
  if (firstValue(size) != valueTotal)
    in.fail(s"it has ${firstValue(size)} values, not $valueTotal")
  in.end()
  checkTypes()
  if (rowChecksums) checkRows()

  def entryType(i: Int): Int = raw(typesAt + i).toInt
  def hash(i: Int): Int = hashes(i)
  def key(i: Int, into: Slice): Slice = into.set(raw, keyStarts(i), keyLengths(i))

  /** Whether entry `i` and entry `j` of another block, or this one, have one key. */
  def sameKey(i: Int, other: BlockEntries, j: Int): Boolean = hashes(i) == other.hashes(j) &&
    Arrays.equals(
      raw,
      keyStarts(i),
      keyStarts(i + 1),
      other.raw,
      other.keyStarts(j),
      other.keyStarts(j + 1)
    )

  /** Number of values of entry `i`. */
  def values(i: Int): Int = valueCounts(i)

  /** Bytes of keys and values of the entries from `from` up to, not including, `until`. */
  def bytes(from: Int, until: Int): Int = keyStarts(until) - keyStarts(from) +
    valueStarts(firstValue(until)) - valueStarts(firstValue(from))

  /** Value `j` of entry `i`. */
  def value(i: Int, j: Int, into: Slice): Slice = {
    val v = firstValue(i) + j
    into.set(raw, valueStarts(v), valueLengths(v))
  }

  /** Running sums of lengths as positions in `raw`; skips the bytes they cover. */
  private def starts(lengths: Array[Int]): Array[Int] = {
    val from = in.skip(0)
    val sums = starts(lengths, from.toLong)
    in.skip(sums(lengths.length) - from)
    sums
  }

  private def starts(lengths: Array[Int], from: Long): Array[Int] = {
    val sums = new Array[Int](lengths.length + 1)
    var sum = from
    var i = 0
    while (i < lengths.length) {
      sums(i) = sum.toInt
      if (lengths(i) < 0) in.fail(s"entry $i has length ${lengths(i)}")
      sum += lengths(i)
      if (sum > raw.length) in.fail(s"entry $i ends past the block")
      i += 1
    }
    sums(lengths.length) = sum.toInt
    sums
  }

  private def checkTypes(): Unit = {
    var i = 0
    while (i < size) {
      val values = valueCounts(i)
      val right = entryType(i) match {
        case EntryType.Put    => values == 1 || (multiValue && values > 1)
        case EntryType.Append => multiValue && values >= 1 && (kind.isChange || continued)
        case EntryType.Remove => values == 0 && kind.isChange
        case _                => false
      }
      if (!right) in.fail(s"entry $i of a ${kind.ending} has type ${entryType(i)}, $values values")
      i += 1
    }
  }

  private def checkRows(): Unit = {
    val crc = new CRC32C
    var i = 0
    while (i < size) {
      crc.reset()
      crc.update(raw, keyStarts(i), keyLengths(i))
      val from = valueStarts(firstValue(i))
      crc.update(raw, from, valueStarts(firstValue(i + 1)) - from)
      if (crc.getValue.toInt != checksums(i)) in.fail(s"entry $i has a wrong row checksum")
      i += 1
    }
  }
}
