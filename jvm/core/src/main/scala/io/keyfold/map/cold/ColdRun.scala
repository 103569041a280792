package io.keyfold.map.cold

import io.keyfold.mem.Mem
import io.keyfold.mem.arena.Addresses

/** What is in memory of a run: rows of one key group in files, in the order of their index hashes
  * (unsigned). Runs of a group are a list from the newest to the oldest; a row in a newer run
  * replaces the one of its key in older runs.
  *
  * {{{
  *   0  i32  epoch in which the run was written
  *   4  i32  the next older run, 0: this is the oldest
  *   8  i32  rows
  *  12  i32  number in ColdFiles
  *  16  i32  blocks b
  *  20  i32  lines f of the filter
  *  24  i64 x b  first hash of each block in the upper half, its end in bytes in the lower half
  *      64 bytes x f  filter, see mayHave
  * }}}
  *
  * One without blocks and filter is lazy: its rows are in [[LazyRuns]], and that is its number.
  *
  * All accessors take an address. A run never changes, but for the next older one.
  */
private[map] object ColdRun {
  private val BlocksAt = 24
  private val LineBytes = 64

  /** Rows of a line of the filter: 10 bits for each. */
  private val RowsOfLine = 51

  def epoch(at: Long): Int = Mem.getInt(null, at)
  def older(at: Long): Int = Mem.getInt(null, at + 4)
  def setOlder(at: Long, older: Int): Unit = Mem.putInt(null, at + 4, older)

  /** The runs of a list from `newest` on, newest first; 0: none. */
  def list(addresses: Addresses, newest: Int): List[Int] =
    if (newest == 0) Nil else newest :: list(addresses, older(addresses.of(newest)))

  def rows(at: Long): Int = Mem.getInt(null, at + 8)
  def file(at: Long): Int = Mem.getInt(null, at + 12)
  def blocks(at: Long): Int = Mem.getInt(null, at + 16)
  private def lines(at: Long): Int = Mem.getInt(null, at + 20)

  def isLazy(at: Long): Boolean = blocks(at) == 0

  def linesFor(rows: Int): Int = rows / RowsOfLine + 1

  /** Bytes in memory of a lazy run. */
  val LazyLength: Int = BlocksAt

  /** Bytes of another run in memory. */
  def length(blocks: Int, rows: Int): Int = BlocksAt + blocks * 8 + linesFor(rows) * LineBytes

  def initialize(
      at: Long,
      epoch: Int,
      older: Int,
      rows: Int,
      file: Int,
      blocks: Int
  ): Unit = {
    Mem.fill(at, length(blocks, rows).toLong, 0)
    initializeLazy(at, epoch, rows, file)
    Mem.putInt(null, at + 4, older)
    Mem.putInt(null, at + 16, blocks)
    Mem.putInt(null, at + 20, linesFor(rows))
  }

  /** A lazy run is the oldest of its group.
    *
    * @param rows
    *   about so many
    */
  def initializeLazy(at: Long, epoch: Int, rows: Int, number: Int): Unit = {
    Mem.fill(at, LazyLength.toLong, 0)
    Mem.putInt(null, at, epoch)
    Mem.putInt(null, at + 8, rows)
    Mem.putInt(null, at + 12, number)
  }

  def setBlock(at: Long, block: Int, firstHash: Int, end: Int): Unit =
    Mem.putLong(null, at + BlocksAt + block * 8L, firstHash.toLong << 32 | end)

  def firstHash(at: Long, block: Int): Int =
    (Mem.getLong(null, at + BlocksAt + block * 8L) >>> 32).toInt

  def start(at: Long, block: Int): Int = if (block == 0) 0 else end(at, block - 1)
  def end(at: Long, block: Int): Int = Mem.getLong(null, at + BlocksAt + block * 8L).toInt

  /** The first block that can have a row with this hash. */
  def blockOf(at: Long, hash: Int): Int = {
    var low = 0
    var high = blocks(at)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (Integer.compareUnsigned(firstHash(at, middle), hash) < 0) low = middle + 1
      else high = middle
    }
    math.max(low - 1, 0)
  }

  /** Whether the run may have a row with this hash: a Bloom filter of five bits in one line of 64
    * bytes, after Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters".
    * Some 1 % of the hashes that it does not have pass; of a lazy run all.
    */
  def mayHave(at: Long, hash: Int): Boolean = isLazy(at) || isInFilter(at, hash)

  private def isInFilter(at: Long, hash: Int): Boolean = {
    val mixed = mix(hash)
    val line = lineOf(at, mixed)
    var bits = mixed
    var i = 0
    while (i < 5 && isSet(line, bits)) {
      bits >>>= 9
      i += 1
    }
    i == 5
  }

  def add(at: Long, hash: Int): Unit = {
    val mixed = mix(hash)
    val line = lineOf(at, mixed)
    var bits = mixed
    var i = 0
    while (i < 5) {
      val byte = line + ((bits & 511) >>> 3)
      Mem.putByte(null, byte, (Mem.getByte(null, byte) | 1 << (bits & 7).toInt).toByte)
      bits >>>= 9
      i += 1
    }
  }

  private def isSet(line: Long, bits: Long): Boolean =
    (Mem.getByte(null, line + ((bits & 511) >>> 3)) & 1 << (bits & 7).toInt) != 0

  /** The upper 19 bits choose the line, the lower 45 the bits in it. */
  private def lineOf(at: Long, mixed: Long): Long = {
    val line = (mixed >>> 45) * lines(at) >>> 19
    at + BlocksAt + blocks(at) * 8L + line * LineBytes
  }

  /** Spreads a hash over 64 bits: the last step of splitmix64. */
  private def mix(hash: Int): Long = {
    var z = (hash & 0xffffffffL) * 0x9e3779b97f4a7c15L
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL
    z ^ (z >>> 31)
  }
}
