package io.keyfold.map.cold

/** Steps through the rows of one run. */
private[map] final class ColdRunCursor(runs: ColdRuns, run: Int) {
  private val at = runs.addresses.of(run)
  private val blocks = ColdRun.blocks(at)
  private val block = new ColdBlock(isHashed = true)
  private var nextBlock = 0
  private var index = -1
  val epoch: Int = ColdRun.epoch(at)

  /** The index hash of the row. */
  var hash = 0

  /** The row, before its first value. */
  var row: ColdRow = _

  def next(): Boolean = {
    index += 1
    if (index >= block.rows && nextBlock < blocks) {
      runs.read(at, nextBlock, block)
      nextBlock += 1
      index = 0
    }
    index < block.rows && {
      hash = block.hash(index)
      row = block.row(index)
      true
    }
  }
}
