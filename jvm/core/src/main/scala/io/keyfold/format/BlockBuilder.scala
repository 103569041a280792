package io.keyfold.format

import java.util.zip.CRC32C

import io.keyfold.format.Layout.EntryType
import io.keyfold.format.wire.ByteSink
import io.keyfold.mem.Slice

/** Raw bytes of the block being filled: docs/FORMAT.md, section 3.3. Each column of the block has a
  * buffer.
  *
  * @param rowChecksums
  *   whether entries carry a checksum
  */
private[format] final class BlockBuilder(rowChecksums: Boolean) {
  private val hashes = new ByteSink
  private val keyLengths = new ByteSink
  private val valueCounts = new ByteSink
  private val valueLengths = new ByteSink
  private val checksums = new ByteSink
  private val types = new ByteSink
  private val keys = new ByteSink(4096)
  private val values = new ByteSink(4096)
  private val columns =
    Seq(hashes, keyLengths, valueCounts, valueLengths, checksums, types, keys, values)
  private val raw = new ByteSink(Layout.BlockTarget + Layout.BlockTarget / 4)
  private val crc = new CRC32C
  private val entryOverhead = Layout.EntryBytes + (if (rowChecksums) 4 else 0)
  private var valueTotal = 0

  /** Number of values of the last entry, and the block's length before it. */
  private var entryValues = 0
  private var entryStart = 0

  /** Number of entries since the last [[clear]]. */
  var entries: Int = 0

  /** Current length of the block in raw bytes. */
  var rawLength: Int = Layout.BlockHeadBytes

  /** Adds an entry with no value (REMOVE) or one value.
    *
    * @return
    *   bytes of key and value
    */
  def add(entryType: Int, hash: Int, key: Slice, value: Slice): Int = {
    entryStart = rawLength
    val keyStart = keys.length
    val valueStart = values.length
    hashes.i32(hash)
    types.u8(entryType)
    keyLengths.i32(key.length)
    keys.bytes(key)
    if (entryType == EntryType.Remove) valueCounts.i32(0)
    else {
      valueCounts.i32(1)
      valueLengths.i32(value.length)
      values.bytes(value)
      valueTotal += 1
    }
    if (rowChecksums) {
      crc.reset()
      crc.update(keys.array, keyStart, keys.length - keyStart)
      crc.update(values.array, valueStart, values.length - valueStart)
      checksums.i32(crc.getValue.toInt)
    }
    val bytes = keys.length - keyStart + values.length - valueStart
    entries += 1
    entryValues = 1
    rawLength += bytes + entryOverhead + (if (entryType == EntryType.Remove) 0 else 4)
    bytes
  }

  /** Raw bytes of the last entry. */
  def entryLength: Int = rawLength - entryStart

  /** Adds another value to the last entry, which has at least one.
    *
    * @return
    *   its bytes
    */
  def addValue(value: Slice): Int = {
    val start = values.length
    values.bytes(value)
    valueLengths.i32(value.length)
    valueTotal += 1
    entryValues += 1
    valueCounts.replaceLastI32(entryValues)
    if (rowChecksums) {
      crc.update(values.array, start, value.length)
      checksums.replaceLastI32(crc.getValue.toInt)
    }
    rawLength += value.length + Integer.BYTES
    value.length
  }

  /** The block's raw bytes; valid until the next call. */
  def build(): ByteSink = {
    raw.clear()
    raw.i32(entries)
    raw.i32(valueTotal)
    columns.foreach(raw.append)
    raw
  }

  def clear(): Unit = {
    columns.foreach(_.clear())
    entries = 0
    valueTotal = 0
    rawLength = Layout.BlockHeadBytes
  }
}
