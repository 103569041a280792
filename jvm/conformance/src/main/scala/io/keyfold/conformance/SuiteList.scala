package io.keyfold.conformance

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

/** `suites.txt`: one full class name a line, `#` starts a comment. */
object SuiteList {
  def read(file: Path): Seq[String] =
    Files.readAllLines(file, UTF_8).asScala.toSeq.map(_.takeWhile(_ != '#').trim).filter(_.nonEmpty)

  /** The full name of a suite that the user may have named by its last part. */
  def fullName(name: String, listed: Seq[String]): String =
    listed.find(_.endsWith(s".$name")).getOrElse(name)

  def shortName(suite: String): String = suite.split('.').last
}
