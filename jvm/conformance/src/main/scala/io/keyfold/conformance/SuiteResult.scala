package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

/** The tests of one suite, as far as they ran.
  *
  * @param seconds
  *   duration of the whole suite; empty while the suite has not come to its end
  */
final case class SuiteResult(suite: String, tests: Seq[TestResult], seconds: Option[Long]) {
  def count(status: Status): Int = tests.count(_.status == status)
  def passed: Int = count(Status.Passed)
  def failed: Int = count(Status.Failed)
  def skipped: Int = count(Status.Skipped)

  /** Whether the suite came to its end, and nothing outside its tests failed. */
  def isWhole: Boolean = seconds.nonEmpty && !tests.exists(_.test == TestResult.asWhole(suite))
}

/** The result file of one suite: a line with the key, a line per test in the order they ended, a
  * line with the duration. It is written while the suite runs, so a suite that was killed shows how
  * far it came; only the last line makes the result complete.
  */
object SuiteResult {
  private val KeyTag = "key"
  private val EndTag = "end"

  def keyLine(key: String): String = line(KeyTag, key)

  def testLine(result: TestResult): String =
    line(result.status.label, result.millis.toString, result.test, result.detail)

  def endLine(seconds: Long): String = line(EndTag, seconds.toString)

  /** The result held in `file`, if it is there and was made for `key`. */
  def read(suite: String, file: Path, key: String): Option[SuiteResult] =
    if (!Files.exists(file)) None
    else {
      val lines = Files.readAllLines(file, UTF_8).asScala.toSeq.map(_.split('\t').toSeq)
      if (!lines.headOption.contains(Seq(KeyTag, key))) None
      else
        Some(
          SuiteResult(
            suite,
            lines.flatMap(testOf),
            lines.collectFirst { case Seq(EndTag, seconds) => seconds.toLong }
          )
        )
    }

  def testOf(fields: Seq[String]): Option[TestResult] = fields match {
    case Seq(label, millis, test, detail @ _*) =>
      Status.parse(label).map(TestResult(_, test, millis.toLong, detail.mkString))
    case _ => None
  }

  /** Fields separated by tabs; what is inside a field must not look like a separator. */
  def line(fields: String*): String =
    fields.map(_.replaceAll("\\s+", " ").trim).mkString("", "\t", "\n")
}
