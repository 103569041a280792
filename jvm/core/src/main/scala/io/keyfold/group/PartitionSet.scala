package io.keyfold.group

/** The rows of some of `partitions` partitions. A row's group determines its hash modulo
  * `gcd(groups, partitions)`; only if that is less than `partitions` are rows looked at.
  */
final class PartitionSet(partitions: Int, groups: Int, members: Seq[Int]) {
  private val modulus = KeyGroups.gcd(groups, partitions)
  private val ofRows = PartitionSet.bits(members)
  private val ofGroups = PartitionSet.bits(members.map(_ % modulus))

  /** Whether the set may have rows of a key group. */
  def hasGroup(group: Int): Boolean = ofGroups.get(group % modulus)

  /** Whether the set has a row, given that it may have rows of its group. */
  def hasRow(hash: Int): Boolean =
    modulus == partitions || ofRows.get(KeyGroups.partitionOf(hash, partitions))
}

private object PartitionSet {
  def bits(members: Seq[Int]): java.util.BitSet = {
    val found = new java.util.BitSet
    members.foreach(found.set)
    found
  }
}
