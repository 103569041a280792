package io.keyfold.bench

/** One thing that was measured, round by round.
  *
  * @param name
  *   a name that [[Table]] knows
  * @param unit
  *   of the values, as it is written behind a number
  */
final case class Figure(name: String, unit: String, rounds: Seq[Double]) {
  def median: Double = {
    val sorted = rounds.sorted
    val middle = sorted.size / 2
    if (sorted.size % 2 == 1) sorted(middle) else (sorted(middle - 1) + sorted(middle)) / 2
  }
}

object Figure {
  def apply(name: String, unit: String, value: Double): Figure = Figure(name, unit, Seq(value))

  /** Rounds of the same figures, one after the other. */
  def joined(figures: Seq[Figure]): Seq[Figure] =
    figures.map(_.name).distinct.map { name =>
      val same = figures.filter(_.name == name)
      Figure(name, same.head.unit, same.flatMap(_.rounds))
    }
}
