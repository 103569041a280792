package io.keyfold.map.cold

import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** Writes rows of different keys, which must come in the order of their index hashes (unsigned), as
  * one run, or as several if they are many.
  *
  * @param epoch
  *   of the runs
  * @param older
  *   the run before which they are placed; 0: none
  */
private[map] final class ColdRunWriter(arena: Arena, files: ColdFiles, epoch: Int, older: Int) {
  import ColdRunWriter._

  private val blocks = new RunBlocks.Builder

  /** Null: nothing of the run has been written. */
  private var file: ColdFiles.Writing = _
  private var written = List.empty[Int]

  /** The runs so far, newest first. */
  def parts: List[Int] = written

  /** The newest run; `older` if no row was added. */
  def newest: Int = written.headOption.getOrElse(older)

  /** Adds a row; its values are added by [[addValue]].
    *
    * @param values
    *   0: the row was removed
    */
  def add(indexHash: Int, hash: Int, key: Slice, changed: Boolean, values: Int): Unit = {
    ColdRow.begin(begin(indexHash), hash, key, changed, values)
  }

  def addValue(value: Slice): Unit = ColdRow.addValue(blocks.entries, value)

  /** Adds a row of another run. */
  def add(indexHash: Int, row: ColdRow, changed: Boolean): Unit =
    row.copyTo(begin(indexHash), changed)

  private def begin(indexHash: Int) = {
    if (blocks.length > MostBytes) finish()
    if (blocks.unwritten > WriteBytes) write()
    blocks.begin(indexHash)
  }

  private def write(): Unit = {
    if (file == null) file = blocks.newFile(files)
    blocks.write(file)
  }

  /** Writes what is left. */
  def finish(): Unit = if (blocks.hashes.size > 0) {
    blocks.finish()
    write()
    val run = arena.allocate(ColdRun.length(blocks.blocks, blocks.hashes.size))
    ColdRun.initialize(arena.addresses.of(run), epoch, newest, files.add(file), blocks)
    blocks.clear()
    file = null
    written ::= run
  }
}

private[cold] object ColdRunWriter {
  private val WriteBytes = 1 << 18

  /** So that what is in memory of a run, and is made at once, stays small. */
  val MostBytes: Int = 256 << 20
}
