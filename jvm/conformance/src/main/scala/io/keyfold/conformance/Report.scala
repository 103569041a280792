package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

/** The page `docs/conformance.md`: the results of all runs there are, side by side. */
final class Report(
    listed: Seq[ListedSuite],
    results: Seq[(RunOf, ProviderResults)],
    skips: Seq[Skip],
    reach: Map[String, Int]
) {
  import SuiteList.shortName

  def write(file: Path): Unit = {
    val text = Seq(header, runs, table, skipped) ++ results.map((failed _).tupled)
    Files.write(file, text.filter(_.nonEmpty).mkString("", "\n\n", "\n").getBytes(UTF_8))
    ()
  }

  private def header =
    """# Spark's own tests on Keyfold
      |
      |![Passed, failed and skipped tests of each provider](img/conformance.svg)
      |
      |Written by `make conformance` and `make conformance-baseline`, do not edit. The tests are those that
      |Spark publishes, with `spark.sql.streaming.stateStore.providerClass` set to each provider in turn. Where a
      |test names RocksDB in its code, Keyfold takes its place; no class that Spark ships is changed.
      |Spark 4.3.0 has published no tests: it runs those of 4.2.0.
      |How to run them: [jvm/conformance/README.md](../jvm/conformance/README.md).""".stripMargin

  private def runs = {
    val rows = results.map { case (of, run) =>
      val minutes = run.suites.flatMap(_.seconds).sum / 60
      row(
        of.provider.name,
        run.version,
        run.date,
        run.suites.map(_.passed).sum.toString,
        run.suites.map(_.failed.size).sum.toString,
        run.suites.map(_.skipped.size).sum.toString,
        minutes.toString
      )
    }
    lines(
      Seq(
        "| provider | version | run on | passed | failed | skipped | minutes |",
        "|---|---|---|---:|---:|---:|---:|"
      ) ++ rows
    )
  }

  private def table = {
    val head = Seq(
      "## Suites",
      "",
      "Cells are passed / failed / skipped. *Reach* counts, where it was measured, the tests that really come to",
      "the provider; the others only plan a query or name another provider. `-`: that line of Spark has no such",
      "suite, or cannot run it (`suites.txt` says why), or it needs column families, which HDFSBacked does not have.",
      "",
      (Seq("suite", "tests") ++ results.map(_._1.name) ++
        Seq("reach", s"seconds (${results.map(_._1.name).mkString(", ")})"))
        .mkString("| ", " | ", " |"),
      (Seq("---", "---:") ++ results.map(_ => "---:") ++ Seq("---:", "---:"))
        .mkString("|", "|", "|")
    )
    lines(head ++ listed.map(rowOf))
  }

  private def rowOf(suite: ListedSuite) = {
    def cells(text: SuiteSummary => String) = results.map { case (of, run) =>
      val absent = if (suite.runsIn(of)) "not run" else "-"
      run.of(suite.name).fold(absent)(text)
    }
    val counts = cells(run => s"${run.passed} / ${run.failed.size} / ${run.skipped.size}")
    val seconds = cells(_.seconds.fold("not finished")(_.toString))
    val tests = results.flatMap(_._2.of(suite.name)).map(_.tests).maxOption
    row(
      Seq(shortName(suite.name), tests.fold("-")(_.toString)) ++ counts ++
        Seq(reach.get(suite.name).fold("")(_.toString), seconds.mkString(", ")): _*
    )
  }

  /** A row for each row of `SKIPS.md`, one for each test that Spark ignores itself. */
  private def skipped = {
    val tests = for {
      (of, run) <- results
      if of.provider == Provider.Keyfold
      suite <- run.suites
      test <- suite.skipped
    } yield (shortName(suite.suite), test, of.line)
    val rows = tests
      .groupBy { case (suite, test, line) => reasonOf(suite, test, line) }
      .toSeq
      .sortBy { case (_, group) => tests.indexOf(group.head) }
      .map { case ((suite, pattern, reason), group) =>
        val lines = group.groupBy(_._3).view.mapValues(_.size).toMap
        val cells = SparkLines.sorted(lines.keys.toSeq).map(line => s"$line: ${lines(line)}")
        row(suite, pattern, cells.mkString(", "), reason)
      }
    if (rows.isEmpty) ""
    else
      lines(
        Seq(
          "## Skipped on Keyfold",
          "",
          "| suite | test | tests | reason |",
          "|---|---|---|---|"
        ) ++ rows
      )
  }

  /** Suite, name or pattern of the tests, and why they are skipped. */
  private def reasonOf(suite: String, test: TestResult, line: String) =
    skips
      .find(skip => skip.suite == suite && skip.lines.contains(line) && skip.covers(test.test))
      .map(skip => (suite, skip.test, skip.reason))
      .getOrElse((suite, test.test, if (test.detail.isEmpty) "ignored by Spark" else test.detail))

  private def failed(of: RunOf, run: ProviderResults) = {
    val rows = for {
      suite <- run.suites
      test <- suite.failed
    } yield row(shortName(suite.suite), test.test, test.detail)
    if (rows.isEmpty) ""
    else
      lines(
        Seq(s"## Failed on ${of.name}", "", "| suite | test | message |", "|---|---|---|")
          ++ rows
      )
  }

  private def row(cells: String*) = cells.map(_.replace("|", "\\|")).mkString("| ", " | ", " |")

  private def lines(all: Seq[String]) = all.mkString("\n")
}
