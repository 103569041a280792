package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.nio.file.StandardOpenOption.APPEND

import io.keyfold.testkit.RunnerWatch
import org.scalatest.{Args, DynaTags, Filter, Reporter, Suite}
import org.scalatest.events._

/** Runs one suite in this JVM: `SuiteMain <suite> <result file> <skipped test>...`
  *
  * A skipped test may be given by its beginning and `*`. ScalaTest's own runner cannot leave out a
  * test by its name; a filter with the tag that `ignore(...)` sets can.
  */
object SuiteMain {
  private val IgnoreTag = Set("org.scalatest.Ignore")
  private val StartMark = "=== "
  private val EndMark = "--- "

  /** Whether a line of the log tells that a test starts or has ended. */
  def isProgress(line: String): Boolean = line.startsWith(StartMark) || line.startsWith(EndMark)

  def started(test: String): String = StartMark + test

  def ended(result: TestResult): String =
    s"$EndMark${result.status.label} ${result.test} (${result.millis} ms)"

  def main(arguments: Array[String]): Unit = {
    val suiteName = arguments(0)
    val results = new ResultFileReporter(Path.of(arguments(1)))
    val skipped = arguments.drop(2).toSeq
    RunnerWatch.start()
    val start = System.nanoTime
    try {
      val suite = Class.forName(suiteName).getConstructor().newInstance().asInstanceOf[Suite]
      val skips = Map(suite.suiteId -> skippedOf(suite, skipped).map(_ -> IgnoreTag).toMap)
      val filter = Filter(None, IgnoreTag, false, DynaTags(Map.empty, skips))
      suite.run(None, Args(reporter = results, filter = filter)).waitUntilCompleted()
    } catch {
      // Also errors of linking: test jars that do not fit are a result, not a hang.
      case error: Throwable => results.suiteFailed(suiteName, error)
    }
    results.end((System.nanoTime - start) / 1000000000L)
    // Threads a suite leaves behind must not keep the JVM.
    System.exit(0)
  }

  /** The suite's tests that the names stand for; a name that ends in `*` is a beginning. */
  private def skippedOf(suite: Suite, names: Seq[String]): Seq[String] =
    names.flatMap { name =>
      val found = suite.testNames.filter(Skip.covers(name, _))
      require(found.nonEmpty, s"SKIPS.md names a test that ${suite.suiteName} has not: $name")
      found
    }
}

/** Writes each test to the result file when it ends, and to the log with its stack trace. */
private final class ResultFileReporter(file: Path) extends Reporter {

  override def apply(event: Event): Unit = event match {
    case started: TestStarting => println(SuiteMain.started(started.testName))
    case ended: TestSucceeded  =>
      write(TestResult(Status.Passed, ended.testName, ended.duration.getOrElse(0L), ""))
    case ended: TestFailed =>
      ended.throwable.foreach(_.printStackTrace(Console.out))
      write(
        TestResult(Status.Failed, ended.testName, ended.duration.getOrElse(0L), ended.message)
      )
    case ended: TestCanceled =>
      write(
        TestResult(Status.Skipped, ended.testName, ended.duration.getOrElse(0L), ended.message)
      )
    case ended: TestPending    => write(TestResult(Status.Skipped, ended.testName, 0L, "pending"))
    case ended: TestIgnored    => write(TestResult(Status.Skipped, ended.testName, 0L, ""))
    case aborted: SuiteAborted =>
      val name = aborted.suiteClassName.getOrElse(aborted.suiteName)
      suiteFailed(name, aborted.throwable.getOrElse(new Error(aborted.message)))
    case _ =>
  }

  def suiteFailed(suite: String, error: Throwable): Unit = {
    error.printStackTrace(Console.out)
    write(TestResult.ofSuite(suite, error.toString))
  }

  def end(seconds: Long): Unit = append(SuiteResult.endLine(seconds))

  private def write(result: TestResult): Unit = {
    println(SuiteMain.ended(result))
    append(SuiteResult.testLine(result))
  }

  private def append(line: String): Unit = synchronized {
    Files.write(file, line.getBytes(UTF_8), APPEND)
    ()
  }
}
