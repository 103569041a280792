package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure}

/** The provider does not have what a work is about. */
final class Unsupported(reason: String) extends RuntimeException(reason)

/** One operation of one cell. Each round does the same to a state of the same size, and times only
  * what belongs to the operation: rows are made before.
  */
abstract class Work {

  /** Makes the state that rounds begin with. */
  def prepare(): Unit

  /** @param number
    *   counts from 0, so that no round writes the values of the one before
    */
  def round(number: Int): Seq[Figure]

  /** Between rounds: what Spark does on a thread of its own. */
  def settle(): Unit = ()

  def rounds(effort: Effort): Int = effort.rounds
  def warmUpSeconds(effort: Effort): Double = effort.warmUpSeconds

  def close(): Unit
}
