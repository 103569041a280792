package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

/** What the page shows of one suite.
  *
  * @param others
  *   the tests that did not pass
  * @param seconds
  *   empty if the suite has not come to its end
  */
final case class SuiteSummary(
    suite: String,
    passed: Int,
    others: Seq[TestResult],
    seconds: Option[Long]
) {
  def failed: Seq[TestResult] = others.filter(_.status == Status.Failed)
  def skipped: Seq[TestResult] = others.filter(_.status == Status.Skipped)
  def tests: Int = passed + others.size
}

object SuiteSummary {
  // Messages of failed queries have whole plans in them.
  private val DetailLength = 200

  def of(result: SuiteResult): SuiteSummary =
    SuiteSummary(
      result.suite,
      result.passed,
      result.tests
        .filter(_.status != Status.Passed)
        .map(test => test.copy(detail = test.detail.take(DetailLength))),
      result.seconds
    )
}

/** The results of a run of all suites with one provider on one line of Spark.
  *
  * @param version
  *   of what was tested
  * @param date
  *   of the run, as in ISO 8601; "... to ..." if some suites were run again later
  */
final case class ProviderResults(version: String, date: String, suites: Seq[SuiteSummary]) {
  def of(suite: String): Option[SuiteSummary] = suites.find(_.suite == suite)

  /** What a later run of some suites and this one say of the suites that are listed now. */
  def renewedBy(later: ProviderResults, listed: Seq[String]): ProviderResults = {
    val begun = date.takeWhile(_ != ' ')
    ProviderResults(
      later.version,
      if (begun == later.date) begun else s"$begun to ${later.date}",
      listed.flatMap(suite => later.of(suite).orElse(of(suite)))
    )
  }
}

/** `results/<provider>-<line>.tsv`, kept in git: a line `run`, then for each suite a line `suite`
  * and one for each of its tests that did not pass.
  */
object ProviderResults {
  private val Unfinished = "-"

  private val File = """(.+)-(\d+\.\d+)\.tsv""".r

  def fileOf(folder: Path, run: RunOf): Path =
    folder.resolve(s"${run.provider.name}-${run.line}.tsv")

  /** All in the folder: by provider, as the page has them, then by line. */
  def readAll(folder: Path): Seq[(RunOf, ProviderResults)] = {
    val names =
      Using.resource(Files.list(folder))(_.iterator.asScala.map(_.getFileName.toString).toSeq)
    val found = names.collect { case File(provider, line) => provider -> line }
    for {
      provider <- Provider.Compared
      line <- SparkLines.sorted(found.collect { case (provider.name, line) => line })
      run = RunOf(provider, line)
      results <- read(fileOf(folder, run))
    } yield run -> results
  }

  def write(file: Path, results: ProviderResults): Unit = {
    val text = SuiteResult.line("run", results.version, results.date) +
      results.suites.map(textOf).mkString
    Files.createDirectories(file.getParent)
    Files.write(file, text.getBytes(UTF_8))
    ()
  }

  private def textOf(summary: SuiteSummary) = {
    val seconds = summary.seconds.fold(Unfinished)(_.toString)
    SuiteResult.line("suite", summary.suite, summary.passed.toString, seconds) +
      summary.others.map(SuiteResult.testLine).mkString
  }

  def read(file: Path): Option[ProviderResults] =
    if (!Files.exists(file)) None
    else {
      val lines = Files.readAllLines(file, UTF_8).asScala.toSeq.map(_.split('\t').toSeq)
      lines.headOption.collect { case Seq("run", version, date) =>
        ProviderResults(version, date, suitesOf(lines.tail))
      }
    }

  private def suitesOf(lines: Seq[Seq[String]]): Seq[SuiteSummary] = lines match {
    case Seq("suite", suite, passed, seconds) +: rest =>
      val (others, next) = rest.span(_.head != "suite")
      val summary = SuiteSummary(
        suite,
        passed.toInt,
        others.flatMap(SuiteResult.testOf),
        Option.when(seconds != Unfinished)(seconds.toLong)
      )
      summary +: suitesOf(next)
    case _ => Nil
  }
}
