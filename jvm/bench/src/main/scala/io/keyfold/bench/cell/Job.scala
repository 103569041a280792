package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Provider}

/** A cell as its JVM is told it.
  *
  * @param rows
  *   of the state
  */
final case class Job(
    operation: String,
    rows: Int,
    shape: Shape,
    provider: Provider,
    effort: Effort
) {

  /** Rows that one batch works on, if it works on a state that is there. */
  def perBatch: Int = math.min(rows, effort.operationsPerRound)

  /** Batches that make a round long enough to be timed. */
  def batches: Int = math.min(math.max(Job.EnoughRows / rows, 1), Job.MostBatches)
}

object Job {
  private val EnoughRows = 200000
  private val MostBatches = 20
}
