package io.keyfold.map.cold

import io.keyfold.format.wire.{ByteSink, Checksum}
import io.keyfold.map.value.IntList
import io.keyfold.mem.{Mem, Slice}

/** Some KiB of rows, of a run in the order of their index hashes (unsigned), or of a leaf in the
  * order of their keys:
  *
  * {{{
  *   0  i32  number of rows n
  *   4  i32 x n  index hashes, of a run only
  *      u16 x n  where the rows begin, from the end of this table
  *      the rows, see ColdRow
  *      u32  CRC-32C of all before
  * }}}
  *
  * @param isHashed
  *   whether it is of a run
  */
private[map] final class ColdBlock(isHashed: Boolean) {
  import ColdBlock._

  private val hashBytes = if (isHashed) 4 else 0

  private var bytes = Array.emptyByteArray
  private var end = 0
  private var count = 0
  private val row = new ColdRow

  def rows: Int = count

  /** The array to read a block of this length into. */
  def room(length: Int): Array[Byte] = {
    if (bytes.length < length) bytes = new Array[Byte](math.max(length, 2 * Target))
    bytes
  }

  /** Takes the block that was read.
    *
    * @return
    *   whether its checksum is right
    */
  def isWhole(length: Int): Boolean = {
    end = length - Integer.BYTES
    count = Mem.getIntLe(bytes, Mem.ArrayOffset)
    Mem.getIntLe(bytes, Mem.ArrayOffset + end) == Checksum.of(bytes, 0, end)
  }

  def hash(i: Int): Int = Mem.getIntLe(bytes, Mem.ArrayOffset + HashesAt + i * 4L)

  /** The row at this index, before its first value; the same object for each call. */
  def row(i: Int): ColdRow = {
    row.set(bytes, startOf(i), if (i + 1 < count) startOf(i + 1) else end)
    row
  }

  /** @return the row of a key, or null */
  def find(hash: Int, key: Slice): ColdRow = {
    var i = firstOf(hash)
    while (i < count && this.hash(i) == hash) {
      if (row(i).hasKey(key)) return row
      i += 1
    }
    null
  }

  /** Index of the first row whose key is not below `key`, in a block of a leaf. */
  def lowerBound(key: Slice): Int = {
    var low = 0
    var high = count
    while (low < high) {
      val middle = (low + high) >>> 1
      if (row(middle).compareKey(key) < 0) low = middle + 1 else high = middle
    }
    low
  }

  private def firstOf(hash: Int): Int = {
    var low = 0
    var high = count
    while (low < high) {
      val middle = (low + high) >>> 1
      if (Integer.compareUnsigned(this.hash(middle), hash) < 0) low = middle + 1 else high = middle
    }
    low
  }

  private def startOf(i: Int): Int = {
    val at = HashesAt + count * hashBytes + i * 2
    HashesAt + count * (hashBytes + 2) + (bytes(at) & 0xff | (bytes(at + 1) & 0xff) << 8)
  }
}

private[map] object ColdBlock {

  /** A block of a run ends before the row that would make it longer, if that is as long as the
    * others are: it is one page of the page cache.
    */
  val Target = 4096

  /** A block of a leaf ends with the row that fills it so far, in bytes: most leaves are one block.
    * Each row must begin below 64 KiB.
    */
  val LeafTarget = 8192
  private val HashesAt = 4

  /** Collects the rows of a block. */
  final class Builder(isHashed: Boolean) {
    private val tableBytes = if (isHashed) 6 else 2
    private val hashes = new IntList
    private val starts = new IntList

    /** The rows, to be written after [[begin]]. */
    val entries = new ByteSink

    def isEmpty: Boolean = starts.size == 0
    def firstHash: Int = hashes(0)

    def isFull: Boolean =
      if (isHashed) !isEmpty && length + length / starts.size > Target
      else entries.length + tableBytes * starts.size >= LeafTarget

    /** Bytes of the block. */
    def length: Int = HashesAt + tableBytes * starts.size + entries.length + Integer.BYTES

    /** Begins a row of a run. */
    def begin(hash: Int): Unit = {
      hashes.add(hash)
      starts.add(entries.length)
    }

    /** Begins a row of a leaf. */
    def begin(): Unit = starts.add(entries.length)

    /** Adds the block to `to`, and begins the next. */
    def finish(to: ByteSink): Unit = {
      val start = to.length
      to.i32(starts.size)
      for (i <- 0 until hashes.size) to.i32(hashes(i))
      for (i <- 0 until starts.size) to.u16(starts(i))
      to.append(entries)
      to.i32(Checksum.of(to.array, start, to.length - start))
      hashes.clear()
      starts.clear()
      entries.clear()
    }
  }
}
