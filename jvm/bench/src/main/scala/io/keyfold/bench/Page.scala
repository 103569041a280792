package io.keyfold.bench

import java.time.ZoneOffset
import java.time.format.DateTimeFormatter

/** The page `docs/benchmarks.md`.
  *
  * @param results
  *   of one effort and one code, in the order they were made
  */
final class Page(effort: Effort, results: Seq[Result], sparkVersion: String) {
  private val latest = results
    .map(result =>
      (result.cell.operation, result.cell.rows, result.cell.shape, result.cell.provider) -> result
    )
    .toMap
  private val others = Provider.all.filter(_ != Provider.Keyfold)
  private val planned = Plan.of(effort).toSet

  def text: String = Seq("# Benchmarks", picture, header, table, reasons)
    .filter(_.nonEmpty)
    .mkString("", "\n\n", "\n")

  private def header =
    s"""Written by `make ${if (effort == Effort.Quick) "bench-quick" else "bench"}`, do not edit.
       |What a line measures, and how: [jvm/bench/README.md](../jvm/bench/README.md).
       |
       |$origin
       |
       |Numbers are medians. Below the number of another provider is how many times better Keyfold is,
       |and how many times it is to be; *target* is for Keyfold's number alone. ✓ reached, ✗ not reached.
       |"not run": there is no result for this code. *no store* is a provider that keeps nothing: what the
       |query takes with it, it takes with any store. In the line of a state 4x the memory budget the files
       |stay in the page cache: the disk was not exercised.""".stripMargin

  /** `make bench-pictures` draws it from the table. */
  private def picture = effort match {
    case Effort.Full =>
      "![How many times faster Keyfold is than Spark's providers](img/benchmarks.svg)"
    case Effort.Quick => ""
  }

  private def origin =
    if (results.isEmpty) "Nothing has been run yet."
    else {
      val machines = results.map(_.machine)
      val dates = results.map(result => day(result)).distinct
      s"Spark $sparkVersion, Keyfold at commit ${machines.map(_.commit).distinct.mkString(" and ")}, " +
        s"${dates.mkString(" to ")}, on ${machines.last.cores} cores and ${machines.last.memoryGiB} " +
        s"GiB, ${machines.last.jvm}, ${CellProcess.JvmOptions.head}, G1."
    }

  private def day(result: Result) =
    DateTimeFormatter.ISO_LOCAL_DATE.withZone(ZoneOffset.UTC).format(result.date)

  private def table = {
    val head = Seq("what", "unit", Provider.Keyfold.title, "target") ++ others.map(_.title)
    val rule = Seq("---", "---") ++ Seq.fill(head.size - 2)("---:")
    (Seq(head, rule) ++ Table.lines(effort).map(cellsOf)).map(row).mkString("\n")
  }

  private def cellsOf(line: Line): Seq[String] = {
    val shown = Provider.all.map { provider =>
      val own = line.cells.map { case (operation, rows, shape) =>
        latest.get((operation, rows, shape, provider))
      }
      provider -> line.shown(provider, own)
    }.toMap
    val keyfold = shown(Provider.Keyfold)
    Seq(line.what, line.unit, plain(keyfold), own(line, keyfold)) ++ others.map { other =>
      if (isPlanned(line, other))
        Seq(plain(shown(other)), against(line, other, shown(other), keyfold))
          .filter(_.nonEmpty)
          .mkString("<br>")
      else ""
    }
  }

  private def isPlanned(line: Line, provider: Provider) = line.cells.forall {
    case (operation, rows, shape) => planned(Cell(operation, rows, shape, provider))
  }

  private def plain(shown: Shown) = shown match {
    case Shown.Value(number) => Numbers.short(number)
    case Shown.Text(text)    => text
  }

  private def against(line: Line, other: Provider, theirs: Shown, keyfold: Shown) =
    (theirs, keyfold, line.targets.get(other)) match {
      case _ if !line.compared                                    => ""
      case (Shown.Value(a), Shown.Value(b), None) if b > 0        => times(a / b)
      case (Shown.Value(a), Shown.Value(b), Some(limit)) if b > 0 =>
        s"${times(a / b)} of ${times(limit)} ${mark(a / b >= limit)}"
      case (_, _, Some(limit)) => s"of ${times(limit)}"
      case _                   => ""
    }

  private def own(line: Line, keyfold: Shown) = line.bound.fold("") { bound =>
    val limit = s"${if (bound.atMost) "≤" else "≥"} ${Numbers.short(bound.limit)}"
    keyfold match {
      case Shown.Value(number) => s"$limit ${mark(bound.holds(number))}"
      case Shown.Text(_)       => limit
    }
  }

  private def mark(reached: Boolean) = if (reached) "✓" else "✗"

  private def times(factor: Double) = s"${Numbers.short(factor)}x"

  /** Cells without numbers, and why: what is called unsupported could be a mistake of the cell. */
  private def reasons = {
    val lines = latest.values.toSeq.flatMap { result =>
      result.outcome match {
        case Outcome.Measured(_, _)      => None
        case Outcome.Unsupported(reason) => Some(s"- `${result.cell.name}`, unsupported: $reason")
        case Outcome.Failed(reason)      => Some(s"- `${result.cell.name}`, failed: $reason")
      }
    }
    if (lines.isEmpty) "" else (Seq("## Without numbers", "") ++ lines.sorted).mkString("\n")
  }

  private def row(cells: Seq[String]) = cells.mkString("| ", " | ", " |")
}
