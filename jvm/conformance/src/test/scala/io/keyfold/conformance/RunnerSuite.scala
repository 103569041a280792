package io.keyfold.conformance

import java.nio.file.{Files, Path}

import io.keyfold.testkit.TestedCode
import org.scalatest.{Args, BeforeAndAfterEach}
import org.scalatest.funsuite.AnyFunSuite

/** The runner itself, without Spark. */
class RunnerSuite extends AnyFunSuite with BeforeAndAfterEach {
  private var file: Path = _

  override def beforeEach(): Unit = file = Files.createTempFile("conformance", ".txt")
  override def afterEach(): Unit = Files.delete(file)

  private def written(text: String): Path = Files.writeString(file, text)

  test("options: suites are separated by commas, an empty name means all") {
    assert(Options.parse(Nil) == Options())
    assert(Options.parse(List("--suite", "A, B")).suites == Seq("A", "B"))
    assert(Options.parse(List("--suite", "")).suites.isEmpty)
    assert(Options.parse(List("--provider", "Refusing")).measuresReach)
    intercept[IllegalArgumentException](Options.parse(List("--provider", "Other")))
    val error = intercept[IllegalArgumentException](Options.parse(List("--suit", "A")))
    assert(error.getMessage == "Invalid option: --suit")
  }

  test("suites.txt: comments are left out, a suite is found by its last name part") {
    val text = "# head\na.b.OneSuite # why\n\na.b.c.TwoSuite families\na.ThreeSuite families 4.1+\n"
    val listed = SuiteList.read(written(text))
    assert(listed.map(_.name) == Seq("a.b.OneSuite", "a.b.c.TwoSuite", "a.ThreeSuite"))
    assert(listed.filter(_.runsIn(RunOf(Provider.RocksDb, "4.1"))) == listed)
    assert(listed.filter(_.runsIn(RunOf(Provider.RocksDb, "4.0"))) == listed.take(2))
    assert(listed.filter(_.runsIn(RunOf(Provider.HdfsBacked, "4.1"))) == listed.take(1))
    intercept[IllegalArgumentException](SuiteList.read(written("a.b.OneSuite famlies\n")))
    assert(SuiteList.fullName("TwoSuite", listed) == "a.b.c.TwoSuite")
    assert(SuiteList.fullName("x.Other", listed) == "x.Other")
  }

  test("lines of Spark: one, a range, one and all after it, all; compared as numbers") {
    def in(text: String) =
      SparkLines.unapply(text).map(lines => Seq("4.0", "4.1", "4.2", "4.10").filter(lines.contains))
    assert(in("4.1").contains(Seq("4.1")))
    assert(in("4.1+").contains(Seq("4.1", "4.2", "4.10")))
    assert(in("4.0-4.2").contains(Seq("4.0", "4.1", "4.2")))
    assert(in("").contains(Seq("4.0", "4.1", "4.2", "4.10")))
    assert(Seq("4", "+4.1", "4.1-", "since 4.1").flatMap(in(_)).isEmpty)
    assert(SparkLines.sorted(Seq("4.10", "4.9")) == Seq("4.9", "4.10"))
  }

  test("SKIPS.md: rows are read, a row that cannot be read is an error") {
    val head = "# Title\n\n| suite | test | lines | reason |\n|---|---|---|---|\n"
    val rows = "| `S` | `a (b), c` | | see `x` and y |\n| `S` | `d` | 4.2+ | z |\n"
    val skips = Skips.read(written(head + rows))
    assert(skips.head == Skip("S", "a (b), c", SparkLines.All, "see `x` and y"))
    assert(skips.map(_.lines.contains("4.1")) == Seq(true, false))
    for (
      row <- Seq(
        "| S | a | | b |",
        "| `S` | `a` | | |",
        "| `S` | `a` | b |",
        "| `S` | `a` | x | b |"
      )
    )
      intercept[IllegalArgumentException](Skips.read(written(s"$head$row\n")))
  }

  test("result file: what is written is read for the same key only") {
    val passed = TestResult(Status.Passed, "one", 12L, "")
    val failed = TestResult(Status.Failed, "two", 0L, "line\n\tline")
    val lines = SuiteResult.keyLine("k") + Seq(passed, failed).map(SuiteResult.testLine).mkString
    assert(SuiteResult.read("S", written(lines), "k").exists(_.seconds.isEmpty))
    val whole = SuiteResult.read("S", written(lines + SuiteResult.endLine(3L)), "k")
    val expected = Seq(passed, failed.copy(detail = "line line"))
    assert(whole.contains(SuiteResult("S", expected, Some(3L))))
    assert(SuiteResult.read("S", file, "other").isEmpty)
    assert(SuiteResult.read("S", file.resolveSibling("absent"), "k").isEmpty)
  }

  private val results = ProviderResults(
    "1.0",
    "2026-11-21",
    Seq(
      SuiteSummary(
        "a.S",
        passed = 2,
        Seq(
          TestResult(Status.Failed, "fails", 5L, "why"),
          TestResult(Status.Skipped, "one: x", 0L, ""),
          TestResult(Status.Skipped, "one: y", 0L, ""),
          TestResult(Status.Skipped, "two", 0L, "")
        ),
        Some(7L)
      ),
      SuiteSummary("a.T", passed = 0, Nil, None)
    )
  )

  test("results of runs: what is written is read, by provider and line") {
    val folder = Files.createTempDirectory("conformance")
    val runs = Seq(
      RunOf(Provider.Keyfold, "4.9") -> results,
      RunOf(Provider.Keyfold, "4.10") -> results.copy(date = "2026-11-22"),
      RunOf(Provider.RocksDb, "4.1") -> results.copy(version = "2.0")
    )
    for ((run, results) <- runs.reverse)
      ProviderResults.write(ProviderResults.fileOf(folder, run), results)
    assert(ProviderResults.readAll(folder) == runs)
  }

  test("results of some suites renew theirs, leave the others, and drop what is not listed") {
    val again = SuiteSummary("a.T", passed = 4, Nil, Some(1L))
    val later = ProviderResults("1.1", "2026-11-23", Seq(again))
    val renewed = results.renewedBy(later, Seq("a.S", "a.T", "a.New"))
    assert(
      renewed == ProviderResults("1.1", "2026-11-21 to 2026-11-23", results.suites.init :+ again)
    )
    assert(
      renewed.renewedBy(later.copy(date = "2026-11-24"), Seq("a.T")) ==
        ProviderResults("1.1", "2026-11-21 to 2026-11-24", Seq(again))
    )
    assert(results.renewedBy(later.copy(date = "2026-11-21"), Nil).date == "2026-11-21")
  }

  test("page: runs side by side, tests skipped for one reason in one row") {
    val listed = Seq(ListedSuite("a.S"), ListedSuite("a.T", needsFamilies = true))
    val other = ProviderResults("2.0", "2026-11-20", Seq(SuiteSummary("a.S", 6, Nil, Some(9L))))
    val skipped = Seq(TestResult(Status.Skipped, "one: x", 0L, ""))
    val before =
      ProviderResults("1.0", "2026-11-19", Seq(SuiteSummary("a.S", 4, skipped, Some(8L))))
    val runs = Seq(
      RunOf(Provider.Keyfold, "4.1") -> before,
      RunOf(Provider.Keyfold, "4.2") -> results,
      RunOf(Provider.HdfsBacked, "4.2") -> other
    )
    val skips = Seq(Skip("S", "one*", SparkLines.All, "because"))
    new Report(listed, runs, skips, Map("a.S" -> 3)).write(file)
    val rows = Files.readString(file).linesIterator.filter(_.startsWith("| ")).toSeq
    assert(
      rows == Seq(
        "| provider | version | run on | passed | failed | skipped | minutes |",
        "| Keyfold | 1.0 | 2026-11-19 | 4 | 0 | 1 | 0 |",
        "| Keyfold | 1.0 | 2026-11-21 | 2 | 1 | 3 | 0 |",
        "| HDFSBacked | 2.0 | 2026-11-20 | 6 | 0 | 0 | 0 |",
        "| suite | tests | Keyfold 4.1 | Keyfold 4.2 | HDFSBacked 4.2 | reach | " +
          "seconds (Keyfold 4.1, Keyfold 4.2, HDFSBacked 4.2) |",
        "| S | 6 | 4 / 0 / 1 | 2 / 1 / 3 | 6 / 0 / 0 | 3 | 8, 7, 9 |",
        "| T | 0 | not run | 0 / 0 / 0 | - |  | not run, not finished, - |",
        "| suite | test | tests | reason |",
        "| S | one* | 4.1: 1, 4.2: 2 | because |",
        "| S | two | 4.2: 1 | ignored by Spark |",
        "| suite | test | message |",
        "| S | fails | why |"
      )
    )
  }

  test("key: depends on the content of the folders and on the other conditions") {
    val folder = Files.createTempDirectory("conformance")
    val code = folder.resolve("A.class")
    try {
      Files.writeString(code, "1")
      val key = TestedCode.key(Seq(folder), Seq("4.2.0"))
      assert(TestedCode.key(Seq(folder, folder.resolve("absent")), Seq("4.2.0")) == key)
      assert(TestedCode.key(Seq(folder), Seq("4.1.0")) != key)
      Files.writeString(code, "2")
      assert(TestedCode.key(Seq(folder), Seq("4.2.0")) != key)
    } finally {
      Files.delete(code)
      Files.delete(folder)
    }
  }

  test("reporter: passed, failed, ignored and canceled tests") {
    Files.writeString(file, SuiteResult.keyLine("k"))
    Console.withOut(java.io.OutputStream.nullOutputStream) {
      new FourEnds().run(None, Args(new ResultFileReporter(file)))
    }
    val tests = SuiteResult.read("S", file, "k").toSeq.flatMap(_.tests)
    assert(
      tests.map(test => (test.status, test.test, test.detail)) == Seq(
        (Status.Passed, "passes", ""),
        (Status.Failed, "fails", "as it should"),
        (Status.Skipped, "is ignored", ""),
        (Status.Skipped, "is canceled", "not here")
      )
    )
  }
}

/** Not found by the test runner: it has no public constructor without arguments. */
private final class FourEnds private[conformance] () extends AnyFunSuite {
  test("passes")(())
  test("fails")(fail("as it should"))
  ignore("is ignored")(())
  test("is canceled")(cancel("not here"))
}
