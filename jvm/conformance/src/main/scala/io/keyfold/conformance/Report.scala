package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

/** The page `docs/conformance.md`. */
final class Report(
    sparkVersion: String,
    provider: String,
    skips: Seq[Skip],
    reach: Map[String, Int]
) {
  import SuiteList.shortName

  def write(file: Path, results: Seq[SuiteResult]): Unit = {
    val text = Seq(header, table(results), skipped(results), failed(results)).filter(_.nonEmpty)
    Files.write(file, text.mkString("", "\n\n", "\n").getBytes(UTF_8))
    ()
  }

  private def header =
    s"""# Spark's own tests on Keyfold
       |
       |Written by `make conformance`, do not edit. The test classes are those Spark $sparkVersion
       |publishes, unchanged, with `spark.sql.streaming.stateStore.providerClass` set to
       |`$provider`.
       |*Reach* counts the tests that really come to the provider. The others only plan a query
       |or name another provider: they still pass with a provider that refuses to be built.
       |How to run them: [jvm/conformance/README.md](../jvm/conformance/README.md).""".stripMargin

  private def table(results: Seq[SuiteResult]) = {
    val rows = results.map { result =>
      row(
        shortName(result.suite),
        result.tests.size.toString,
        result.passed.toString,
        result.failed.toString,
        result.skipped.toString,
        reach.get(result.suite).fold("-")(_.toString),
        result.seconds.fold("not finished")(_.toString)
      )
    }
    lines(
      "| suite | tests | passed | failed | skipped | reach | seconds |" +:
        "|---|---:|---:|---:|---:|---:|---:|" +: rows
    )
  }

  private def skipped(results: Seq[SuiteResult]) =
    section("Skipped", "reason", results, Status.Skipped)(reasonOf)

  private def failed(results: Seq[SuiteResult]) =
    section("Failed", "message", results, Status.Failed)((_, test) => test.detail.take(200))

  private def section(title: String, what: String, results: Seq[SuiteResult], status: Status)(
      detail: (SuiteResult, TestResult) => String
  ) = {
    val rows = for {
      result <- results
      test <- result.tests if test.status == status
    } yield row(shortName(result.suite), test.test, detail(result, test))
    if (rows.isEmpty) ""
    else lines(Seq(s"## $title", "", s"| suite | test | $what |", "|---|---|---|") ++ rows)
  }

  private def reasonOf(result: SuiteResult, test: TestResult) =
    skips
      .find(skip => skip.suite == shortName(result.suite) && skip.test == test.test)
      .map(_.reason)
      .getOrElse(if (test.detail.isEmpty) "ignored by Spark" else test.detail)

  private def row(cells: String*) = cells.map(_.replace("|", "\\|")).mkString("| ", " | ", " |")

  private def lines(all: Seq[String]) = all.mkString("\n")
}
