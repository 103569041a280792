package io.keyfold.rescale

import io.keyfold.io.BlobStore
import io.keyfold.model.{StoreLocation, VersionId}

/** Opens all partitions of stores at a version. For each it lists the folder and reads one footer.
  *
  * @param partitions
  *   N of that version
  * @param version
  *   its number
  */
private[rescale] final class OldPartitions(
    blobs: BlobStore,
    partitions: Int,
    version: Long,
    inParallel: StorePlanner.Parallel
) {

  /** Applies a function to each partition of a store.
    *
    * @param ids
    *   of the version, one for each partition, as the commit log has them; none under checkpoint
    *   format v1
    * @return
    *   results by partition; only partition 0 if it has all rows
    * @throws io.keyfold.errors.StoreError
    *   if a partition is missing or does not fit
    */
  def of[T](
      operator: Long,
      store: String,
      ids: Option[IndexedSeq[String]]
  )(f: OldPartition => T): IndexedSeq[T] = {
    def read(partition: Int) = new OldPartition(
      blobs,
      StoreLocation(operator, partition, store),
      partitions,
      VersionId(version, ids.fold("")(_(partition))).written
    )
    def check(count: Int): Unit = ids.map(_.length).filter(_ != count).foreach { found =>
      throw StorePlanner.refused(
        operator,
        store,
        s"the commit log has $found ids of it, not $count"
      )
    }
    if (ids.exists(_.isEmpty)) check(partitions)
    val first = read(0)
    val count = if (first.isOnly && ids.forall(_.length == 1)) 1 else partitions
    check(count)
    (f(first) +: inParallel(1 until count)(p => f(read(p)))).toIndexedSeq
  }
}
