package io.keyfold.group

/** The old partitions that new ones need when a store is rescaled from `from` to `to`; key groups
  * stay. Partitions fall into classes: an old one usually has rows for all new ones of its class,
  * and never for others.
  */
final class Reassignment(from: Int, to: Int, groups: Int) {

  /** Number of classes: the greatest common divisor. */
  val classes: Int = KeyGroups.gcd(from, to)

  /** Class of a partition, old or new. */
  def classOf(partition: Int): Int = partition % classes

  /** Share of an old partition's key groups that a new one takes. */
  def share: Double = {
    val old = KeyGroups.gcd(groups, from)
    KeyGroups.gcd(old, KeyGroups.gcd(groups, to)).toDouble / KeyGroups.gcd(groups, to)
  }
}
