package io.keyfold.map.cold

import io.keyfold.format.wire.ByteSink
import io.keyfold.map.value.IntList
import io.keyfold.mem.{Mem, Slice}

/** The blocks of a run: rows of one key group in a file, in the order of their index hashes
  * (unsigned). Points to one run at a time, by its index:
  *
  * {{{
  *   i64 x b  first hash of each block in the upper half, its end in bytes in the lower half, and
  *            one bit: it begins at the start of a page, not at the end of the one before
  * }}}
  *
  * So a look-up reads one page of the page cache, or of the disk.
  */
private[map] final class RunBlocks {
  private var files: ColdFiles = _
  private var base: AnyRef = _
  private var index = 0L
  private var blocks = 0
  private var number = 0

  /** @param base
    *   with `index`, where the index is
    * @param number
    *   of the run in the files
    */
  def of(files: ColdFiles, base: AnyRef, index: Long, blocks: Int, number: Int): this.type = {
    this.files = files
    this.base = base
    this.index = index
    this.blocks = blocks
    this.number = number
    this
  }

  def count: Int = blocks

  /** The row of a key, before its first value.
    *
    * @param into
    *   the block that has the row is read into it
    * @return
    *   null if there is none
    */
  def find(hash: Int, key: Slice, into: ColdBlock): ColdRow = {
    var i = firstWith(hash)
    while (i < blocks && Integer.compareUnsigned(firstHash(i), hash) <= 0) {
      read(i, into)
      val row = into.find(hash, key)
      if (row != null) return row
      i += 1
    }
    null
  }

  def read(i: Int, into: ColdBlock): Unit = {
    val before = if (i == 0) 0 else end(i - 1)
    val start = if (entry(i).toInt < 0) before + ColdFiles.toPage(before) else before
    files.readBlock(number, start, end(i) - start, into)
  }

  /** The first block that can have a row with this hash. */
  private def firstWith(hash: Int): Int = {
    var low = 0
    var high = blocks
    while (low < high) {
      val middle = (low + high) >>> 1
      if (Integer.compareUnsigned(firstHash(middle), hash) < 0) low = middle + 1
      else high = middle
    }
    math.max(low - 1, 0)
  }

  private def firstHash(i: Int): Int = (entry(i) >>> 32).toInt
  private def end(i: Int): Int = entry(i).toInt & Int.MaxValue
  private def entry(i: Int): Long = Mem.getLong(base, index + i * RunBlocks.EntryBytes)
}

private[map] object RunBlocks {
  private val EntryBytes = 8L
  private val AtPage = Int.MinValue
  private val zeros = new Array[Byte](ColdFiles.PageBytes)

  /** Bytes of the index of so many blocks. */
  def indexBytes(blocks: Int): Int = blocks * EntryBytes.toInt

  /** Collects the rows of a run, which must come in the order of their index hashes. */
  final class Builder {
    private val content = new ByteSink
    private val block = new ColdBlock.Builder(isHashed = true)
    private val firstHashes = new IntList
    private val ends = new IntList
    private var written = 0

    /** Index hash of each row. */
    val hashes = new IntList

    /** Bytes of blocks, those written and those not. */
    def length: Int = written + content.length

    /** Bytes of blocks that are not written. */
    def unwritten: Int = content.length

    def blocks: Int = ends.size

    /** Begins a row.
      *
      * @return
      *   where it is to be written
      */
    def begin(indexHash: Int): ByteSink = {
      if (block.isFull) finish()
      block.begin(indexHash)
      hashes.add(indexHash)
      block.entries
    }

    /** To [[ColdRow.addValue]] of the row. */
    def entries: ByteSink = block.entries

    /** Ends the block, if one was begun. */
    def finish(): Unit = if (!block.isEmpty) {
      val left = ColdFiles.toPage(length)
      val isLeft = left < block.length && block.length <= ColdFiles.PageBytes && left > 0
      if (isLeft) content.bytes(zeros, left)
      firstHashes.add(block.firstHash)
      block.finish(content)
      ends.add(if (isLeft) length | AtPage else length)
    }

    /** Where the run is to be written: if it is longer than a page, from the start of one. */
    def newFile(files: ColdFiles): ColdFiles.Writing =
      files.begin(atPage = content.length > ColdFiles.PageBytes)

    def write(to: ColdFiles.Writing): Unit = {
      to.write(content.array, content.length)
      written += content.length
      content.clear()
    }

    def putIndex(base: AnyRef, at: Long): Unit =
      for (i <- 0 until ends.size) {
        Mem.putLong(base, at + i * EntryBytes, firstHashes(i).toLong << 32 | ends(i) & 0xffffffffL)
      }

    /** Begins the next run. */
    def clear(): Unit = {
      Seq(hashes, firstHashes, ends).foreach(_.clear())
      written = 0
    }
  }
}
