package io.keyfold.map.cold

import io.keyfold.mem.arena.Addresses
import io.keyfold.mem.{HashFilter, Mem}

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
  *  20  i32  bytes of the filter
  *  24  i64 x b  index of the blocks, see RunBlocks
  *      filter of the index hashes, see HashFilter
  * }}}
  *
  * One without blocks and filter is lazy: its rows are in [[LazyRuns]], and that is its number.
  *
  * All accessors take an address. A run never changes, but for the next older one.
  */
private[map] object ColdRun {
  private val IndexAt = 24

  def epoch(at: Long): Int = Mem.getInt(null, at)
  def older(at: Long): Int = Mem.getInt(null, at + 4)
  def setOlder(at: Long, older: Int): Unit = Mem.putInt(null, at + 4, older)

  /** The runs of a list from `newest` on, newest first; 0: none. */
  def list(addresses: Addresses, newest: Int): List[Int] =
    if (newest == 0) Nil else newest :: list(addresses, older(addresses.of(newest)))

  def rows(at: Long): Int = Mem.getInt(null, at + 8)
  def file(at: Long): Int = Mem.getInt(null, at + 12)
  private def blocks(at: Long): Int = Mem.getInt(null, at + 16)
  private def filterBytes(at: Long): Int = Mem.getInt(null, at + 20)
  private def filterAt(at: Long): Long = at + IndexAt + RunBlocks.indexBytes(blocks(at))

  def isLazy(at: Long): Boolean = blocks(at) == 0

  /** Bytes in memory of a lazy run. */
  val LazyLength: Int = IndexAt

  /** Bytes of another run in memory. */
  def length(blocks: Int, rows: Int): Int =
    IndexAt + RunBlocks.indexBytes(blocks) + HashFilter.bytesFor(rows)

  /** @param file
    *   its number in the files, to which `built` was written
    */
  def initialize(at: Long, epoch: Int, older: Int, file: Int, built: RunBlocks.Builder): Unit = {
    val hashes = built.hashes
    Mem.fill(at, length(built.blocks, hashes.size).toLong, 0)
    initializeLazy(at, epoch, hashes.size, file)
    setOlder(at, older)
    Mem.putInt(null, at + 16, built.blocks)
    Mem.putInt(null, at + 20, HashFilter.bytesFor(hashes.size))
    built.putIndex(null, at + IndexAt)
    val (filter, bytes) = (filterAt(at), filterBytes(at))
    var i = 0
    while (i < hashes.size) {
      HashFilter.add(null, filter, bytes, hashes(i))
      i += 1
    }
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

  /** Points to the blocks of a run that is not lazy. */
  def point(to: RunBlocks, files: ColdFiles, at: Long): RunBlocks =
    to.of(files, null, at + IndexAt, blocks(at), file(at))

  /** Whether the run may have a row with this hash; a lazy run may. */
  def mayHave(at: Long, hash: Int): Boolean =
    isLazy(at) || HashFilter.mayHave(null, filterAt(at), filterBytes(at), hash)
}
