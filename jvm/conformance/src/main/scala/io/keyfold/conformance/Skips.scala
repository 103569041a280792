package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

/** A test that is left out, and why.
  *
  * @param test
  *   a name that ends in `*` stands for all that begin so
  * @param lines
  *   the lines of Spark on which it is left out
  */
final case class Skip(suite: String, test: String, lines: SparkLines, reason: String) {
  def covers(name: String): Boolean = Skip.covers(test, name)
}

object Skip {
  def covers(pattern: String, name: String): Boolean =
    if (pattern.endsWith("*")) name.startsWith(pattern.dropRight(1)) else name == pattern
}

/** `SKIPS.md`: the rows of its table `| suite | test | lines | reason |`, suites by their last name
  * part. A row that cannot be read is an error: else its test would be run unnoticed.
  */
object Skips {
  private val Row = """\|\s*`([^`]+)`\s*\|\s*`([^`]+)`\s*\|\s*(\S*)\s*\|\s*(\S.*?)\s*\|\s*""".r

  def read(file: Path): Seq[Skip] = {
    val lines = Files.readAllLines(file, UTF_8).asScala.toSeq.filter(_.startsWith("|"))
    lines.drop(2).map { // after the head and the rule below it
      case Row(suite, test, SparkLines(lines), reason) => Skip(suite, test, lines, reason)
      case line => throw new IllegalArgumentException(s"Invalid row in $file: $line")
    }
  }
}
