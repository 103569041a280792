package io.keyfold.store

import io.keyfold.format.FamilySpec
import io.keyfold.group.KeyGroups

/** Whether rows of a family belong to a partition.
  *
  * @param partitions
  *   N; 0 if not known, and then every row fits
  */
private[store] final class Placement(spec: FamilySpec, partitions: Int, partition: Int) {
  private val checked = partitions > 0 && spec.partitionKey != Placement.NoRule

  def fits(hash: Int): Boolean = !checked || KeyGroups.partitionOf(hash, partitions) == partition
}

object Placement {

  /** The partition key of a family whose rows are hashed by their whole key for want of a rule. */
  val NoRule = "none"

  /** The partition key of a family whose rows are all in partition 0, whatever N is. */
  val Constant = "constant"
}
