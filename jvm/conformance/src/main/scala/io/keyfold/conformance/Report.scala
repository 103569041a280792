package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

/** The page `docs/conformance.md`: the results of all providers there are, side by side. */
final class Report(
    listed: Seq[ListedSuite],
    results: Map[Provider, ProviderResults],
    skips: Seq[Skip],
    reach: Map[String, Int]
) {
  import SuiteList.shortName

  private val providers = Provider.Compared.filter(results.contains)

  def write(file: Path): Unit = {
    val text = Seq(header, runs, table, skipped) ++ providers.map(failed)
    Files.write(file, text.filter(_.nonEmpty).mkString("", "\n\n", "\n").getBytes(UTF_8))
    ()
  }

  private def header =
    """# Spark's own tests on Keyfold
      |
      |Written by `make conformance` and `make conformance-baseline`, do not edit. The tests are those that
      |Spark publishes, with `spark.sql.streaming.stateStore.providerClass` set to each provider in turn. Where a
      |test names RocksDB in its code, Keyfold takes its place; no class that Spark ships is changed.
      |How to run them: [jvm/conformance/README.md](../jvm/conformance/README.md).""".stripMargin

  private def runs = {
    val rows = providers.map { provider =>
      val run = results(provider)
      val minutes = run.suites.flatMap(_.seconds).sum / 60
      row(
        provider.name,
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
      "the provider; the others only plan a query or name another provider. `-`: the suite needs column",
      "families, which HDFSBacked has not.",
      "",
      (Seq("suite", "tests") ++ providers.map(_.name) ++
        Seq("reach", s"seconds (${providers.map(_.name).mkString(", ")})"))
        .mkString("| ", " | ", " |"),
      (Seq("---", "---:") ++ providers.map(_ => "---:") ++ Seq("---:", "---:"))
        .mkString("|", "|", "|")
    )
    lines(head ++ listed.map(rowOf))
  }

  private def rowOf(suite: ListedSuite) = {
    def cells(text: SuiteSummary => String) = providers.map { provider =>
      val absent = if (suite.runsWith(provider)) "not run" else "-"
      results(provider).of(suite.name).fold(absent)(text)
    }
    val counts = cells(run => s"${run.passed} / ${run.failed.size} / ${run.skipped.size}")
    val seconds = cells(_.seconds.fold("not finished")(_.toString))
    val tests = providers.flatMap(results(_).of(suite.name)).map(_.tests).maxOption
    row(
      Seq(shortName(suite.name), tests.fold("-")(_.toString)) ++ counts ++
        Seq(reach.get(suite.name).fold("")(_.toString), seconds.mkString(", ")): _*
    )
  }

  /** A row for each line of `SKIPS.md`, one for all that Spark ignores itself. */
  private def skipped = {
    val tests = for {
      run <- results.get(Provider.Keyfold).toSeq
      suite <- run.suites
      test <- suite.skipped
    } yield (shortName(suite.suite), test)
    val rows = tests
      .groupBy { case (suite, test) => (suite, patternOf(suite, test), reasonOf(suite, test)) }
      .toSeq
      .sortBy { case (_, group) => tests.indexOf(group.head) }
      .map { case ((suite, test, reason), group) => row(suite, test, group.size.toString, reason) }
    if (rows.isEmpty) ""
    else
      lines(
        Seq(
          "## Skipped on Keyfold",
          "",
          "| suite | test | tests | reason |",
          "|---|---|---:|---|"
        ) ++ rows
      )
  }

  private def skipOf(suite: String, test: TestResult) =
    skips.find(skip => skip.suite == suite && skip.covers(test.test))

  private def patternOf(suite: String, test: TestResult) =
    skipOf(suite, test).fold(test.test)(_.test)

  private def reasonOf(suite: String, test: TestResult) =
    skipOf(suite, test).map(_.reason).getOrElse {
      if (test.detail.isEmpty) "ignored by Spark" else test.detail
    }

  private def failed(provider: Provider) = {
    val rows = for {
      suite <- results(provider).suites
      test <- suite.failed
    } yield row(shortName(suite.suite), test.test, test.detail)
    if (rows.isEmpty) ""
    else
      lines(
        Seq(s"## Failed on ${provider.name}", "", "| suite | test | message |", "|---|---|---|")
          ++ rows
      )
  }

  private def row(cells: String*) = cells.map(_.replace("|", "\\|")).mkString("| ", " | ", " |")

  private def lines(all: Seq[String]) = all.mkString("\n")
}
