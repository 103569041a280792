package io.keyfold.store.file

import io.keyfold.group.KeyGroups
import io.keyfold.model.{FamilySpec, PartitionRule}

/** Whether rows of a family belong to a partition, by their hash.
  *
  * @param partitions
  *   N; 0: not known, every row fits
  */
private[store] final class Placement(spec: FamilySpec, partitions: Int, partition: Int) {
  private val rescaled = spec.rescaled
  private val checked =
    partitions > 0 && spec.partitionKey != PartitionRule.NoRule && !spec.strays

  def fits(hash: Int): Boolean = !checked || KeyGroups.partitionOf(hash, partitions) == partition

  /** Whether the rows of a key are here, if there are any: after a rescale only if it fits. */
  def finds(hash: Int): Boolean = !rescaled || fits(hash)
}
