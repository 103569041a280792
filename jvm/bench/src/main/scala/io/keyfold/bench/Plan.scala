package io.keyfold.bench

/** The cells of a run, providers of one operation next to each other: what is compared was measured
  * within minutes.
  */
object Plan {
  private val Small = 10000
  private val Million = 1000000
  private val Large = 5000000

  def of(effort: Effort): Seq[Cell] = effort match {
    case Effort.Quick => quick
    case Effort.Full  => full
  }

  private def quick: Seq[Cell] = Seq(
    cells("put-overwrite", Small),
    cells("put-overwrite", Million),
    cells("put-new", Small),
    cells("put-new", Million),
    cells("get", Million),
    cells("read-modify-write", Million),
    cells("remove", Million),
    cells("scan", Million),
    cells("evict", Million),
    cells("open-commit", Small),
    cells("open-commit", Million),
    cells("memory", Million)
  ).flatten

  private def full: Seq[Cell] = Seq(
    cells("put-overwrite", Small),
    cells("put-overwrite", Million),
    cells("put-new", Small),
    cells("put-new", Million),
    cells("get", Million),
    cells("get", Million, "str"),
    cells("read-modify-write", Million),
    cells("read-modify-write", Million, "str"),
    cells("remove", Million),
    cells("scan", Million),
    cells("evict", Million),
    cells("prefix-scan", Million),
    cells("range-scan", Million),
    cells("append", Million),
    cells("put-during-snapshot", Million),
    cells("open-commit", Small),
    cells("open-commit", Million),
    cells("open-commit", Large),
    cells("load", Large),
    cells("memory", Large),
    cells("spill", 2 * Million),
    cells("longest-put", Large),
    cells("upkeep-100", Million),
    cells("upkeep-1000", Million),
    cells("upkeep-10000", Million),
    queries(2 * Small),
    queries(Large / 10),
    queries(Million),
    queries(Large),
    cells("rescale", 10 * Small),
    cells("rescale", Million),
    cells("rescale", Large),
    cells("rewrite", Million)
  ).flatten

  private def cells(operation: String, rows: Int, shape: String = "int") =
    Provider.all.filter(_ != Provider.Nothing).map(Cell(operation, rows, shape, _))

  /** Without a store too. */
  private def queries(keys: Int) = Provider.all.map(Cell("streaming-count", keys, "int", _))
}
