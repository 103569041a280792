package io.keyfold.bench

/** How long a cell is measured.
  *
  * @param warmUpSeconds
  *   rounds that do not count are run until they have taken so long; at least one is
  * @param rounds
  *   rounds that count
  * @param enoughSeconds
  *   rounds end earlier once those that count have taken so long
  * @param operationsPerRound
  *   bound on the rows that one round works on; the state is as large as the cell says
  */
sealed abstract class Effort(
    val name: String,
    val warmUpSeconds: Double,
    val rounds: Int,
    val enoughSeconds: Double,
    val operationsPerRound: Int
) {

  /** All of it, for the hash that results depend on. */
  def text: String = s"$name $warmUpSeconds $rounds $enoughSeconds $operationsPerRound"
}

object Effort {
  case object Quick extends Effort("quick", 0.6, 3, 1.5, 100000)
  case object Full extends Effort("full", 3.0, 3, Double.MaxValue, Int.MaxValue)

  def ofName(name: String): Effort = Seq(Quick, Full)
    .find(_.name == name)
    .getOrElse(throw new IllegalArgumentException(s"Invalid effort: $name"))
}
