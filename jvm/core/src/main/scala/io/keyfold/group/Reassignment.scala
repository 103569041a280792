package io.keyfold.group

/** Who needs whom when a store of `from` partitions is cut into `to`; key groups stay. Partitions
  * fall into classes: one has rows for all new ones of its class, as a rule, and for no others.
  */
final class Reassignment(from: Int, to: Int, groups: Int) {

  /** Number of classes: as many as the largest common divisor. */
  val classes: Int = KeyGroups.gcd(from, to)

  /** Class of a partition, old or new. */
  def classOf(partition: Int): Int = partition % classes

  /** How much of an old partition's key groups a new one takes. */
  def share: Double = {
    val old = KeyGroups.gcd(groups, from)
    KeyGroups.gcd(old, KeyGroups.gcd(groups, to)).toDouble / KeyGroups.gcd(groups, to)
  }
}
