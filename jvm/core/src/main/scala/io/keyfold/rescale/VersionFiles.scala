package io.keyfold.rescale

import io.keyfold.io.BlobStore

/** Lists the files that hold a version of a store in all partitions. Includes each partition's head
  * even if a snapshot makes it redundant, since checks of a checkpoint look for it. Usually reads
  * two footers per partition, of the head and of the snapshot, and no blocks.
  *
  * @param blobs
  *   the checkpoint
  * @param partitions
  *   N of that version
  * @param version
  *   its number
  */
final class VersionFiles(
    blobs: BlobStore,
    partitions: Int,
    version: Long,
    inParallel: StorePlanner.Parallel
) {

  /** @param ids
    *   of the version, one for each partition, as the commit log has them; none under checkpoint
    *   format v1
    * @return
    *   paths, each once
    * @throws io.keyfold.errors.StoreError
    *   if one of them does not exist or cannot be read
    */
  def of(operator: Long, store: String, ids: Option[IndexedSeq[String]]): Seq[String] = {
    val old = new OldPartitions(blobs, partitions, version, inParallel).of(operator, store, ids) {
      partition =>
        val chain = partition.chain
        (chain, partition.headPath +: partition.references(chain))
    }
    val below = new LayersBelow(blobs).of(old.flatMap(_._1.base))
    val files = old.flatMap(_._1.files) ++ below.flatMap(_.members).flatMap(_.files)
    (files.map(_.path) ++ old.flatMap(_._2)).distinct
  }
}
