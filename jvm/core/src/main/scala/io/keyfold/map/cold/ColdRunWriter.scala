package io.keyfold.map.cold

import io.keyfold.format.wire.ByteSink
import io.keyfold.map.value.IntList
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

  private val content = new ByteSink
  private val block = new ColdBlock.Builder(isHashed = true)
  private val hashes = new IntList
  private val firstHashes = new IntList
  private val ends = new IntList

  /** Null between two runs. */
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
    if (file == null) file = files.begin()
    else if (file.length + content.length > MostBytes) {
      finishRun()
      file = files.begin()
    }
    block.begin(indexHash)
    hashes.add(indexHash)
  }

  private def finishBlock(): Unit = {
    firstHashes.add(block.firstHash)
    block.finish(content)
    ends.add(file.length + content.length)
    if (content.length > WriteBytes) flush()
  }

  private def flush(): Unit = {
    file.write(content.array, content.length)
    content.clear()
  }

  /** Writes what is left. */
  def finish(): Unit = if (hashes.size > 0) finishRun()

  private def finishRun(): Unit = {
    if (!block.isEmpty) finishBlock()
    flush()
    val run = arena.allocate(ColdRun.length(ends.size, hashes.size))
    val at = arena.addresses.of(run)
    ColdRun.initialize(at, epoch, newest, hashes.size, files.add(file), ends.size)
    for (i <- 0 until ends.size) ColdRun.setBlock(at, i, firstHashes(i), ends(i))
    var i = 0
    while (i < hashes.size) {
      ColdRun.add(at, hashes(i))
      i += 1
    }
    Seq(hashes, firstHashes, ends).foreach(_.clear())
    file = null
    written ::= run
  }
}

private[cold] object ColdRunWriter {
  private val WriteBytes = 1 << 18

  /** So that what is in memory of a run, and is made at once, stays small. */
  val MostBytes: Int = 256 << 20
}
