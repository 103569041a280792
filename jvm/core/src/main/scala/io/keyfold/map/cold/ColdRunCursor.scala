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
    if (ColdRun.isLazy(at)) new OfLazy(runs, at) else new OfBlocks(runs, at)
  }

  private final class OfBlocks(runs: ColdRuns, at: Long) extends ColdRunCursor {
    private val blocks = ColdRun.blocks(at)
    private val block = new ColdBlock(isHashed = true)
    private var nextBlock = 0
    private var index = -1
    override val epoch: Int = ColdRun.epoch(at)
    private var current: ColdRow = _
    override def hash: Int = block.hash(index)
    override def row: ColdRow = current

    override def next(): Boolean = {
      index += 1
      if (index >= block.rows && nextBlock < blocks) {
        runs.read(at, nextBlock, block)
        nextBlock += 1
        index = 0
      }
      index < block.rows && {
        current = block.row(index)
        true
      }
    }
  }

  private final class OfLazy(runs: ColdRuns, at: Long) extends ColdRunCursor {
    private val rows = runs.files.lazyRuns.rows(ColdRun.file(at))
    override val epoch: Int = ColdRun.epoch(at)
    override def hash: Int = rows.hash
    override def row: ColdRow = rows.row
    override def next(): Boolean = rows.next()
  }
}
