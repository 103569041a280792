package io.keyfold.bench

/** What is printed while cells run: which one, how long it has been, how long it may take.
  *
  * @param earlier
  *   results that tell how long a cell takes
  */
final class Progress(cells: Seq[Cell], effort: Effort, earlier: Seq[Result]) {
  private val start = System.nanoTime
  private val expected = earlier.filter(_.effort == effort).map(r => r.cell -> r.seconds).toMap
  private var taken = Vector.empty[Double]

  def starts(cell: Cell): Unit = print(s"cell ${taken.size + 1} of ${cells.size} ${cell.name} ... ")

  def ended(outcome: Outcome, seconds: Double): Unit = {
    taken :+= seconds
    val soFar = minutes((System.nanoTime - start) / 1e9)
    println(s"${text(outcome)} (${seconds.round} s; $soFar so far, about ${minutes(toGo)} to go)")
  }

  private def toGo: Double = {
    val mean = taken.sum / taken.size
    cells.drop(taken.size).map(cell => expected.getOrElse(cell, mean)).sum
  }

  private def text(outcome: Outcome) = outcome match {
    case Outcome.Measured(figures, _) =>
      figures.map(f => s"${f.name} ${Numbers.short(f.median)} ${f.unit}").mkString(", ")
    case Outcome.Unsupported(reason) => s"unsupported: ${reason.take(200)}"
    case Outcome.Failed(reason)      => s"FAILED: ${reason.take(300)}"
  }

  private def minutes(seconds: Double) = f"${seconds / 60}%.1f min"
}
