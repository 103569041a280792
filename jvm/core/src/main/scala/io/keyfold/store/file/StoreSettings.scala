package io.keyfold.store.file

import io.keyfold.errors.Invalid
import io.keyfold.format.wire.Codec

/** What the caller decides for a store.
  *
  * @param partitions
  *   N, 0 if not known
  * @param keyGroups
  *   G for a new checkpoint; the files of an existing one decide for themselves
  * @param codec
  *   compression of blocks that are written
  * @param deltasPerSnapshot
  *   deltas since the last snapshot at which maintenance writes the next
  * @param deltaBytesPerSnapshot
  *   the same in bytes of their files; whichever is reached first
  * @param repair
  *   what to do when a snapshot cannot be read
  * @param rowChecksums
  *   whether each row is kept with a checksum, and how often that is verified; none: it is not
  * @param versionsToRetain
  *   how many versions before the newest must stay loadable
  * @param versionsPerCleanup
  *   new versions between two looks for files to delete, at least 1
  * @param deletesPerCleanup
  *   most versions that a cleanup deletes files of, oldest first; of files that a rescale has left
  *   it never deletes more than a share
  * @param versionsInMemory
  *   newest versions kept in memory, at least 1
  * @param writer
  *   program name and version, for the files
  */
final case class StoreSettings(
    partitions: Int,
    keyGroups: Int,
    codec: Codec,
    deltasPerSnapshot: Int,
    deltaBytesPerSnapshot: Long,
    repair: SnapshotRepair,
    rowChecksums: Option[RowChecksumSettings],
    versionsToRetain: Int,
    versionsPerCleanup: Long,
    deletesPerCleanup: Int,
    versionsInMemory: Int,
    writer: String
) {

  /** `keyGroups`, for a store without files.
    *
    * @throws io.keyfold.errors.Invalid
    *   if it is not a multiple of the partitions. After a rescale it need not be: the files decide.
    */
  def keyGroupsOfNew: Int = {
    if (partitions > 0 && keyGroups % partitions != 0) {
      throw new Invalid(
        "KEYFOLD_INVALID_SETTING",
        "Invalid spark.sql.streaming.stateStore.keyfold.keyGroups: it must be a multiple of the " +
          s"$partitions partitions, not $keyGroups"
      )
    }
    keyGroups
  }
}

/** What loading does about a snapshot that cannot be read.
  *
  * @param enabled
  *   whether an older snapshot and more deltas may take its place
  * @param tries
  *   how often the snapshot is tried before that, at least 1
  * @param maxDeltas
  *   most deltas to read in its place
  */
final case class SnapshotRepair(enabled: Boolean, tries: Int, maxDeltas: Int)

/** @param verifyEvery
  *   rows read from memory between two that are verified; 0: none is. Rows that go to a file are
  *   always verified.
  */
final case class RowChecksumSettings(verifyEvery: Long)
