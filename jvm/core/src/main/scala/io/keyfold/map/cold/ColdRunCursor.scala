package io.keyfold.map.cold

/** Steps through the rows of one run. */
private[map] sealed trait ColdRunCursor {
  def epoch: Int
  def next(): Boolean

  /** The index hash of the row. */
  def hash: Int

  /** The row, before its first value. */
  def row: ColdRow
}

private[map] object ColdRunCursor {
  def apply(runs: ColdRuns, run: Int): ColdRunCursor = {
    val at = runs.addresses.of(run)
    val epoch = ColdRun.epoch(at)
    if (ColdRun.isLazy(at)) runs.files.lazyRuns.cursor(ColdRun.file(at), epoch)
    else new OfBlocks(epoch, ColdRun.point(new RunBlocks, runs.files, at))
  }

  final class OfBlocks(override val epoch: Int, blocks: RunBlocks) extends ColdRunCursor {
    private val block = new ColdBlock(isHashed = true)
    private var nextBlock = 0
    private var index = -1
    private var current: ColdRow = _
    override def hash: Int = block.hash(index)
    override def row: ColdRow = current

    override def next(): Boolean = {
      index += 1
      if (index >= block.rows && nextBlock < blocks.count) {
        blocks.read(nextBlock, block)
        nextBlock += 1
        index = 0
      }
      index < block.rows && {
        current = block.row(index)
        true
      }
    }
  }

  final class OfRows(override val epoch: Int, rows: UnsortedRows) extends ColdRunCursor {
    override def hash: Int = rows.hash
    override def row: ColdRow = rows.row
    override def next(): Boolean = rows.next()
  }
}
