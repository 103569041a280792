package io.keyfold.group

/** Some rows, told by their hashes. */
trait RowSet {

  /** Whether it may have rows of a key group. */
  def hasGroup(group: Int): Boolean

  /** Whether it has a row of such a group. */
  def hasRow(hash: Int): Boolean
}

/** The rows of some of `partitions` partitions. */
final class PartitionSet(partitions: Int, groups: Int, members: Seq[Int]) extends RowSet {
  private val modulus = KeyGroups.gcd(groups, partitions)
  private val ofRows = PartitionSet.bits(members)
  private val ofGroups = PartitionSet.bits(members.map(_ % modulus))

  override def hasGroup(group: Int): Boolean = ofGroups.get(group % modulus)
  override def hasRow(hash: Int): Boolean = ofRows.get(KeyGroups.partitionOf(hash, partitions))
}

private object PartitionSet {
  def bits(members: Seq[Int]): java.util.BitSet = {
    val found = new java.util.BitSet
    members.foreach(found.set)
    found
  }
}
