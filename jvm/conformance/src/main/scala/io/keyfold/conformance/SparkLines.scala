package io.keyfold.conformance

import scala.math.Ordering.Implicits._

/** Lines of Spark, such as `4.1`, `4.1+` or `4.0-4.1`; empty for all.
  *
  * @param from
  *   the first of them, as major and minor number
  * @param to
  *   the last of them; none if they are still coming
  */
final case class SparkLines(from: Seq[Int], to: Option[Seq[Int]]) {
  def contains(line: String): Boolean = {
    val numbers = SparkLines.numbers(line)
    from <= numbers && to.forall(numbers <= _)
  }
}

object SparkLines {
  val All: SparkLines = SparkLines(Nil, None)

  private val From = """(\d+\.\d+)\+""".r
  private val Between = """(\d+\.\d+)-(\d+\.\d+)""".r
  private val One = """(\d+\.\d+)""".r

  def unapply(text: String): Option[SparkLines] = text match {
    case ""                => Some(All)
    case One(line)         => Some(SparkLines(numbers(line), Some(numbers(line))))
    case From(line)        => Some(SparkLines(numbers(line), None))
    case Between(from, to) => Some(SparkLines(numbers(from), Some(numbers(to))))
    case _                 => None
  }

  /** In the order of their numbers: 4.9 before 4.10. */
  def sorted(lines: Seq[String]): Seq[String] = lines.sortWith(numbers(_) < numbers(_))

  private def numbers(line: String): Seq[Int] = line.split('.').toSeq.map(_.toInt)
}
