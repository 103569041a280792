package io.keyfold.conformance

import java.io.File
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.APPEND
import java.time.LocalDate

import io.keyfold.testkit.TestedCode

/** Runs the suites of `suites.txt` one after the other; see README.md for the options. */
object Main {
  private val Home = Path.of("jvm", "conformance")
  private val ResultFolder = Home.resolve("results")

  def main(arguments: Array[String]): Unit = {
    val options =
      try Options.parse(arguments.toList)
      catch {
        case error: IllegalArgumentException =>
          System.err.println(error.getMessage)
          sys.exit(2)
      }
    val listed = SuiteList.read(Home.resolve("suites.txt"))
    if (options.pageOnly) {
      writePage(listed)
      System.exit(0)
    }
    val runner = new Runner(options)
    val all = listed.filter(_.runsIn(runner.of)).map(_.name)
    val suites =
      if (options.suites.isEmpty) all else options.suites.map(SuiteList.fullName(_, listed))
    val results = suites.map(runner.run)
    if (options.measuresReach) {
      if (results.forall(_.isWhole))
        Reach.write(Home.resolve("reach.tsv"), runner.sparkVersion, results)
    } else if (options.suites.isEmpty || options.renew) {
      val file = ProviderResults.fileOf(ResultFolder, runner.of)
      val summaries = results.map(SuiteSummary.of)
      val run = ProviderResults(runner.testedVersion, LocalDate.now.toString, summaries)
      // A run of some must not replace the results of all.
      val earlier = if (options.renew) ProviderResults.read(file) else None
      ProviderResults.write(file, earlier.fold(run)(_.renewedBy(run, all)))
      writePage(listed)
    }
    val failed = results.map(_.failed).sum
    println(
      s"conformance: ${results.map(_.passed).sum} passed, $failed failed, " +
        s"${results.map(_.skipped).sum} skipped"
    )
    // What fails with another provider is what is to be known.
    val succeeded = if (options.testsKeyfold) failed == 0 else results.forall(_.isWhole)
    System.exit(if (succeeded) 0 else 1)
  }

  private def writePage(listed: Seq[ListedSuite]): Unit =
    new Report(
      listed,
      ProviderResults.readAll(ResultFolder),
      Skips.read(Home.resolve("SKIPS.md")),
      Reach.read(Home.resolve("reach.tsv"))
    ).write(Path.of("docs", "conformance.md"))

  /** Runs suites with one provider, or takes the results of an earlier run of the same code. */
  private final class Runner(options: Options) {
    val sparkVersion: String = property("keyfold.conformance.spark.version")
    val of: RunOf = RunOf(options.provider, property("keyfold.conformance.spark.line"))

    /** Of the provider: Spark's own have its version. */
    val testedVersion: String =
      if (options.testsKeyfold) s"${property("keyfold.conformance.version")}, Spark $sparkVersion"
      else s"Spark $sparkVersion"

    // Other providers are run for comparison, whole.
    private val skips: Seq[Skip] =
      if (options.testsKeyfold)
        Skips.read(Home.resolve("SKIPS.md")).filter(_.lines.contains(of.line))
      else Nil

    private val javaArguments = property("keyfold.conformance.java.args")
    private val tested = {
      // What Spark's providers do does not depend on Keyfold's classes.
      val names =
        if (options.testsKeyfold || options.measuresReach) Seq("tested", "suites")
        else Seq("suites")
      names
        .flatMap(name => property(s"keyfold.conformance.$name").split(File.pathSeparator))
        .map(Path.of(_))
    }
    private val conditions =
      Seq(sparkVersion, options.provider.className, Runtime.version.feature.toString) ++
        SuiteProcess.JvmOptions
    private val folder =
      Path.of("target", "conformance", of.line, options.provider.name).toAbsolutePath
    private val process = new SuiteProcess(
      javaArguments,
      options.provider,
      folder,
      options.timeoutMinutes,
      options.verbose
    )

    def run(suite: String): SuiteResult = {
      val skipped = skips.filter(_.suite == SuiteList.shortName(suite)).map(_.test)
      val key = TestedCode.key(tested, conditions ++ (suite +: skipped))
      val file = folder.resolve(s"$suite.tsv")
      val earlier =
        if (options.fresh) None else SuiteResult.read(suite, file, key).filter(_.isWhole)
      val result = earlier.getOrElse(runNow(suite, file, key, skipped))
      print(result, isNew = earlier.isEmpty)
      result
    }

    private def runNow(suite: String, file: Path, key: String, skipped: Seq[String]) = {
      println(s"${SuiteList.shortName(suite)} ...")
      Files.createDirectories(folder)
      Files.write(file, SuiteResult.keyLine(key).getBytes(UTF_8))
      process.run(suite, file, skipped).foreach { failure =>
        val line = SuiteResult.testLine(TestResult.ofSuite(suite, failure))
        Files.write(file, line.getBytes(UTF_8), APPEND)
      }
      val result = SuiteResult.read(suite, file, key).getOrElse(SuiteResult(suite, Nil, None))
      val incomplete = result.seconds.isEmpty && result.failed == 0 || result.tests.isEmpty
      if (incomplete)
        result.copy(tests = result.tests :+ TestResult.ofSuite(suite, "ended before its tests"))
      else result
    }

    private def print(result: SuiteResult, isNew: Boolean): Unit = {
      val name = SuiteList.shortName(result.suite)
      println(
        s"$name: ${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped, " +
          s"${result.seconds.fold("not finished")(_.toString + " s")}" +
          (if (isNew) "" else " (earlier run of the same code)")
      )
      if (!options.measuresReach && result.failed > 0) {
        result.tests.filter(_.status == Status.Failed).foreach { test =>
          println(s"  FAILED ${test.test}: ${test.detail.take(300)}")
        }
        println(s"  log: ${folder.resolve(s"${result.suite}.log")}")
      }
    }
  }

  private def property(name: String): String =
    sys.props.getOrElse(name, sys.error(s"Missing -D$name: use the file of conformance/prepare"))
}
