package io.keyfold.bench

import io.keyfold.bench.Provider.{Hdfs, Rocks, RocksCounting}

/** The lines of the page, with what is to be reached. */
object Table {
  private val Small = 10000
  private val Million = 1000000
  private val Large = 5000000

  /** Those of which a run of this effort has cells. */
  def lines(effort: Effort): Seq[Line] = {
    val planned = Plan.of(effort).map(cell => (cell.operation, cell.rows, cell.shape)).toSet
    all.filter(_.cells.forall(planned))
  }

  private val all: Seq[Line] = Seq(
    perRow("put, overwrite", "put-overwrite", Small, targets(3, 12, 5)),
    perRow("put, overwrite", "put-overwrite", Million, targets(3, 12, 5)),
    perRow("put, new", "put-new", Small, targets(3, 12, 5)),
    perRow("put, new", "put-new", Million, targets(3, 12, 5)),
    perRow("get, hit", "get", Million, targets(1, 8, 8)),
    perRow("get, hit", "get", Million, targets(1, 8, 8), "str"),
    perRow("read, modify, write", "read-modify-write", Million, targets(2.5, 8, 8)),
    perRow("read, modify, write", "read-modify-write", Million, targets(2.5, 8, 8), "str"),
    perRow("remove existing", "remove", Million, targets(1, 12, 5)),
    perRow("full scan", "scan", Million, targets(1, 6, 6)),
    perRow("evict 10 %: scan and remove", "evict", Million, targets(1, 6, 3)),
    line("prefix scan of 100", "µs", ("prefix-scan", Million, "int"), "time", rocks(5)),
    line("range scan of 100", "µs", ("range-scan", Million, "int"), "time", rocks(5)),
    perRow(
      "append to a list, per value, 10 a key",
      "append",
      Million,
      Map(RocksCounting -> 30, Rocks -> 12)
    ),
    open(Small, Map.empty),
    open(Million, Map.empty),
    open(Large, targets(50, 1.5, 1.5)),
    openGrowth(Million),
    openGrowth(Large),
    line("load, to the first row", "ms", ("load", Large, "int"), "load", Map(Hdfs -> 2)),
    line("load, 1,000 rows read, changed, put", "ms", ("load", Large, "int"), "load+1000"),
    line("load and full scan", "ms", ("load", Large, "int"), "load+scan"),
    loadAgainstScan,
    memory("heap, per row", "heap", Million),
    memory("heap, per row", "heap", Large),
    memory("resident memory, per row", "resident", Million),
    memory("resident memory, per row", "resident", Large),
    memory("files of the checkpoint, per row", "files", Million),
    memory("files of the checkpoint, per row", "files", Large),
    memory("other local files, per row", "local-files", Million),
    memory("other local files, per row", "local-files", Large),
    perRow("state 4x the memory budget: read, modify, write", "spill", 2 * Million, rocks(1)),
    spilled("anonymous memory", "anonymous").copy(targets = rocks(1)),
    spilled("memory that maps files", "file"),
    alone(
      "longest put while growing, outside pauses",
      "ms",
      "longest-put",
      Large,
      "longest",
      Bound(true, 2)
    ),
    line("p99.99 of these puts", "µs", ("longest-put", Large, "int"), "p99.99"),
    line(
      "longest put that a pause of the JVM fell into",
      "ms",
      ("longest-put", Large, "int"),
      "longest-paused"
    ),
    alone(
      "puts while a snapshot is written, of those without",
      "ratio",
      "put-during-snapshot",
      Million,
      "ratio",
      Bound(false, 0.7)
    )
  ) ++ Seq(100, 1000, 10000).flatMap(upkeep) ++ Seq(
    streaming(2 * Small, Map.empty),
    streaming(Large / 10, Map.empty),
    streaming(Million, Map.empty),
    streaming(Large, targets(4, 3, 3)),
    growth(
      "the count, from 500k to 5M keys",
      ("streaming-count", Large / 10, "int"),
      ("streaming-count", Large, "int"),
      "batch",
      1.2
    ),
    rescale(10 * Small, Map.empty),
    rescale(Million, Map.empty),
    rescale(Large, rocks(20)),
    growth(
      "the rescale, from 100k to 5M rows",
      ("rescale", 10 * Small, "int"),
      ("rescale", Large, "int"),
      "apply",
      1.5
    ),
    line(
      "from stop to the first batch with 32",
      "ms",
      ("rescale", Large, "int"),
      "stop-to-batch",
      rocks(3)
    ),
    alone(
      "bytes that first loads with 32 read, of those owned",
      "ratio",
      "rescale",
      Large,
      "read",
      Bound(true, 1.1)
    ).copy(compared = false),
    rewrite("write all rows of a stopped query's state anew", "write"),
    rewrite("the same, and read them", "rewrite")
  )

  private def rewrite(what: String, figure: String) =
    line(what, "ms", ("rewrite", Million, "int"), figure, rocks(10))

  private def targets(hdfs: Double, counting: Double, notCounting: Double) =
    Map[Provider, Double](Hdfs -> hdfs, RocksCounting -> counting, Rocks -> notCounting)

  private def rocks(both: Double) = Map[Provider, Double](RocksCounting -> both, Rocks -> both)

  private def line(
      what: String,
      unit: String,
      cell: (String, Int, String),
      figure: String,
      targets: Map[Provider, Double] = Map.empty
  ) = Line(
    s"$what, ${Cell.short(cell._2)} ${cell._3}",
    unit,
    Seq(cell),
    (_, results) => Shown.of(results.head, figure),
    targets
  )

  private def perRow(
      what: String,
      operation: String,
      rows: Int,
      targets: Map[Provider, Double],
      shape: String = "int"
  ) = line(what, "ns", (operation, rows, shape), "time", targets)

  private def open(rows: Int, targets: Map[Provider, Double]) =
    line("open, put 1,000, commit", "ms", ("open-commit", rows, "int"), "time", targets)

  private def openGrowth(to: Int) = growth(
    s"the same, from 10k to ${Cell.short(to)} rows",
    ("open-commit", Small, "int"),
    ("open-commit", to, "int"),
    "time",
    1.5
  )

  /** RocksDB's load leaves work for the first scan. */
  private def loadAgainstScan = Line(
    "load; for RocksDB, load and full scan, 5M int",
    "ms",
    Seq(("load", Large, "int")),
    (provider, results) =>
      Shown.of(
        results.head,
        if (provider.isInstanceOf[Provider.RocksDb]) "load+scan" else "load"
      ),
    rocks(1)
  )

  private def memory(what: String, figure: String, rows: Int) = {
    val plain = line(what, "bytes", ("memory", rows, "int"), figure)
    figure match {
      case "heap"     => plain.copy(bound = Some(Bound(atMost = true, 1)))
      case "resident" => plain.copy(targets = Map(Hdfs -> 3))
      case _          => plain
    }
  }

  private def spilled(what: String, figure: String) =
    line(s"the same: $what it adds", "MiB", ("spill", 2 * Million, "int"), figure)

  private def alone(
      what: String,
      unit: String,
      operation: String,
      rows: Int,
      figure: String,
      bound: Bound
  ) = line(what, unit, (operation, rows, "int"), figure)
    .copy(bound = Some(bound), compared = bound.atMost)

  private def upkeep(share: Int) = {
    val of = ("upkeep-" + share, Million, "int")
    val changes = f"1 of $share%,d rows changes"
    Seq(
      line(s"bytes written a batch: $changes", "KiB", of, "written"),
      line("the same, of what a commit writes", "ratio", of, "amplification")
        .copy(bound = Option.when(share == 1000)(Bound(atMost = true, 4))),
      line(s"checkpoint: $changes", "MiB", of, "checkpoint")
    )
  }

  private def streaming(keys: Int, targets: Map[Provider, Double]) =
    line("streaming count, batch of 200k", "ms", ("streaming-count", keys, "int"), "batch", targets)

  private def rescale(rows: Int, targets: Map[Provider, Double]) =
    line("rescale, 16 to 32 partitions", "ms", ("rescale", rows, "int"), "apply", targets)

  private def growth(
      what: String,
      from: (String, Int, String),
      to: (String, Int, String),
      figure: String,
      limit: Double
  ) = Line(
    what,
    "ratio",
    Seq(from, to),
    (_, results) =>
      results.map(Shown.of(_, figure)) match {
        case Seq(Shown.Value(small), Shown.Value(large)) => Shown.Value(large / small)
        case shown => shown.find(_.isInstanceOf[Shown.Text]).getOrElse(Shown.Text("not run"))
      },
    bound = Some(Bound(atMost = true, limit)),
    compared = false
  )
}
