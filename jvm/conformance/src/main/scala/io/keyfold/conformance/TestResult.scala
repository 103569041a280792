package io.keyfold.conformance

/** What became of one test.
  *
  * @param detail
  *   why it failed or was skipped, on one line; empty for a test that passed
  */
final case class TestResult(status: Status, test: String, millis: Long, detail: String)

object TestResult {

  /** The failure of a suite outside its tests. */
  def ofSuite(suite: String, detail: String): TestResult =
    TestResult(Status.Failed, asWhole(suite), 0L, detail)

  /** Takes the place of a test's name. */
  def asWhole(suite: String): String = s"($suite as a whole)"
}

sealed abstract class Status(val label: String)

object Status {
  case object Passed extends Status("passed")
  case object Failed extends Status("failed")
  case object Skipped extends Status("skipped")

  private val all = Seq(Passed, Failed, Skipped)

  def parse(label: String): Option[Status] = all.find(_.label == label)
}
