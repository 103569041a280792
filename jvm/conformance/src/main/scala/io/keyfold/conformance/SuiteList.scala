package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

/** A line of `suites.txt`.
  *
  * @param needsFamilies
  *   whether its tests need column families
  * @param lines
  *   the lines of Spark that have it
  */
final case class ListedSuite(
    name: String,
    needsFamilies: Boolean = false,
    lines: SparkLines = SparkLines.All
) {
  def runsIn(run: RunOf): Boolean =
    (run.provider.hasFamilies || !needsFamilies) && lines.contains(run.line)
}

/** `suites.txt`: one full class name a line, with the word `families` after it if it needs column
  * families, then the lines of Spark that have it, if not all do (`4.1+`); `#` starts a comment.
  */
object SuiteList {
  def read(file: Path): Seq[ListedSuite] =
    Files
      .readAllLines(file, UTF_8)
      .asScala
      .toSeq
      .map(_.takeWhile(_ != '#').trim)
      .filter(_.nonEmpty)
      .map(_.split("\\s+").toSeq)
      .map { words =>
        val (families, lines) = words.tail.partition(_ == "families")
        SparkLines
          .unapply(lines.mkString(" "))
          .map(ListedSuite(words.head, families.nonEmpty, _))
          .getOrElse(throw new IllegalArgumentException(s"Invalid line: ${words.mkString(" ")}"))
      }

  /** The full name of a suite that the user may have named by its last part. */
  def fullName(name: String, listed: Seq[ListedSuite]): String =
    listed.map(_.name).find(_.endsWith(s".$name")).getOrElse(name)

  def shortName(suite: String): String = suite.split('.').last
}
