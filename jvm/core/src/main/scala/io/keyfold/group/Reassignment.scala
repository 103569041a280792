package io.keyfold.group

/** Who takes which rows when a store of `from` partitions is cut into `to`; key groups stay. */
final class Reassignment(val from: Int, val to: Int, val groups: Int) {
  private val shared = KeyGroups.gcd(from, to)

  /** The old partitions that have rows of a new one, ascending. */
  def sources(partition: Int): Seq[Int] = (partition % shared) until from by shared

  /** What a new partition takes of the files of an old one; nothing if no row can be both's. */
  def taken(source: Int, partition: Int): Option[Selection] =
    Selection.ofPartition(source, from, groups).ofGroups and
      Selection.ofPartition(partition, to, groups)
}
