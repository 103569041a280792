package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.time.LocalDate

import scala.jdk.CollectionConverters._

/** `reach.tsv`: how many tests of each suite really come to the configured provider, measured as
  * those that no longer pass with [[RefusingProvider]].
  */
object Reach {
  def read(file: Path): Map[String, Int] =
    if (!Files.exists(file)) Map.empty
    else
      Files
        .readAllLines(file, UTF_8)
        .asScala
        .filterNot(_.startsWith("#"))
        .map(_.split('\t'))
        .map(fields => fields(0) -> fields(1).toInt)
        .toMap

  /** Other suites keep what was measured of them. */
  def write(file: Path, sparkVersion: String, results: Seq[SuiteResult]): Unit = {
    val head = Seq(
      "# Written by make conformance-reach. Tests that really use the configured provider.",
      s"# Spark $sparkVersion, last measured ${LocalDate.now}",
      "# suite\treach"
    )
    val reach = read(file) ++ results.map(result => result.suite -> result.failed)
    val rows = reach.toSeq.sorted.map { case (suite, tests) => s"$suite\t$tests" }
    Files.write(file, (head ++ rows).asJava, UTF_8)
    ()
  }
}
