package io.keyfold.rescale

import io.keyfold.group.Selection
import io.keyfold.io.BlobStore

/** Which files hold a version of a store, over all its partitions, each partition's head among them
  * even where a snapshot of the version makes it needless: who checks a checkpoint looks for it.
  * Reads a footer of each partition, as a rule, and no block.
  *
  * @param blobs
  *   the checkpoint's `state` folder
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
    *   paths relative to `state`, each once
    * @throws io.keyfold.errors.StoreError
    *   if one of them is not there, or cannot be read
    */
  def of(operator: Long, store: String, ids: Option[IndexedSeq[String]]): Seq[String] =
    new OldPartitions(blobs, partitions, version, inParallel)
      .of(operator, store, ids)
      .flatMap { partition =>
        partition.headPath +: (partition.chain(Selection.All).map(_.path) ++ partition.references)
      }
      .distinct
}
