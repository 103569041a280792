package io.keyfold.rescale

import io.keyfold.format.{Family, FileReference}

/** What becomes of one store.
  *
  * @param keyGroups
  *   G
  * @param partitions
  *   the new ones; only partition 0 of a store whose rows all live there
  * @param frozen
  *   folders of the old layout, and of other files that the new one refers to
  */
final case class StorePlan(
    operator: Long,
    store: String,
    keyGroups: Int,
    partitions: IndexedSeq[PartitionPlan],
    frozen: Seq[String]
) {

  /** Bytes of the files that are referred to, each counted once. */
  def referencedBytes: Long =
    partitions.flatMap(_.files).map(f => f.path -> f.length).toMap.valuesIterator.sum
}

/** What a new partition is put together from.
  *
  * @param families
  *   how much they hold is -1 where it cannot be known without reading rows
  * @param files
  *   in the order they are to be applied
  * @param firstLoadBytes
  *   about what the first load reads of them, at most
  */
final case class PartitionPlan(
    partition: Int,
    families: Seq[Family],
    files: Seq[FileReference],
    firstLoadBytes: Long
) {

  /** Whether rows have to be looked at, since the key groups do not say all. */
  def filtersRows: Boolean = files.exists(_.taken.rowModulus != 0)
}
