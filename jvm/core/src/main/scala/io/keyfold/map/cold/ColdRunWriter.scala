package io.keyfold.map.cold

import io.keyfold.format.wire.ByteSink
import io.keyfold.map.value.IntList
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Writes a run of rows, which must come in the order of their index hashes (unsigned). */
private[map] final class ColdRunWriter(arena: Arena, files: ColdFiles) {
  private val content = new ByteSink(1 << 16)
  private val block = new ColdBlock.Builder
  private val hashes = new IntList
  private val firstHashes = new IntList
  private val ends = new IntList

  /** Adds a row; its values are added by [[addValue]].
    *
    * @param values
    *   0: the row was removed
    */
  def add(indexHash: Int, hash: Int, key: Slice, changed: Boolean, values: Int): Unit = {
    begin(indexHash)
    ColdRow.begin(block.entries, hash, key, changed, values)
  }

  def addValue(value: Slice): Unit = ColdRow.addValue(block.entries, value)

  /** Adds a row of another run. */
  def add(indexHash: Int, row: ColdRow, changed: Boolean): Unit = {
    begin(indexHash)
    row.copyTo(block.entries, changed)
  }

  private def begin(indexHash: Int): Unit = {
    if (block.isFull) finishBlock()
    block.begin(indexHash)
    hashes.add(indexHash)
  }

  private def finishBlock(): Unit = {
    firstHashes.add(block.firstHash)
    block.finish(content)
    ends.add(content.length)
  }

  /** Writes the rows that were added.
    *
    * @param older
    *   the run that the new one is placed before; 0: none
    * @return
    *   the run; `older` if no row was added
    */
  def finish(epoch: Int, older: Int): Int =
    if (hashes.size == 0) older
    else {
      finishBlock()
      val run = arena.allocate(ColdRun.length(ends.size, hashes.size))
      val at = arena.addresses.of(run)
      val file = files.add(content.array, content.length)
      ColdRun.initialize(at, epoch, older, hashes.size, file, ends.size)
      for (i <- 0 until ends.size) ColdRun.setBlock(at, i, firstHashes(i), ends(i))
      var i = 0
      while (i < hashes.size) {
        ColdRun.add(at, hashes(i))
        i += 1
      }
      content.clear()
      Seq(hashes, firstHashes, ends).foreach(_.clear())
      run
    }
}
