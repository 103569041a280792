package io.keyfold.store.file

import io.keyfold.errors.Invalid
import io.keyfold.format.wire.Codec

/** Settings of a store.
  *
  * @param partitions
  *   N, 0 if not known
  * @param checksPartitions
  *   whether files of another N are an error; not where they may be another query's
  * @param keyGroups
  *   G for a new checkpoint; an existing one keeps that of its files
  * @param codec
  *   compression of new blocks
  * @param deltasPerSnapshot
  *   maintenance merges deltas, or writes a snapshot, once a load reads so many files after the
  *   last snapshot
  * @param deltaBytesPerSnapshot
  *   or so many bytes of deltas, whichever comes first
  * @param snapshotAfterShare
  *   it writes a snapshot once the files after the last one have this share of its bytes
  * @param repair
  *   what to do when a snapshot cannot be read
  * @param rowChecksums
  *   checksums of rows in memory and how often they are verified; none: no checksums
  * @param versionsToRetain
  *   number of versions before the newest that stay loadable
  * @param versionsPerCleanup
  *   new versions between two cleanups, at least 1
  * @param deletesPerCleanup
  *   maximum number of versions whose files one cleanup deletes, oldest first; each cleanup also
  *   deletes at most a share of the files that a rescale left
  * @param versionsInMemory
  *   number of newest versions kept in memory, at least 2: the newest, of which there may be
  *   several attempts, and the one before it, which another attempt would begin on
  * @param writer
  *   program name and version, written to the files
  * @param lazyFromBytes
  *   bytes of a snapshot from which on a load puts the rows of a key group into memory when they
  *   are first asked for
  */
final case class StoreSettings(
    partitions: Int,
    checksPartitions: Boolean,
    keyGroups: Int,
    codec: Codec,
    deltasPerSnapshot: Int,
    deltaBytesPerSnapshot: Long,
    snapshotAfterShare: Double,
    repair: SnapshotRepair,
    rowChecksums: Option[RowChecksumSettings],
    versionsToRetain: Int,
    versionsPerCleanup: Long,
    deletesPerCleanup: Int,
    versionsInMemory: Int,
    writer: String,
    lazyFromBytes: Long
) {

  /** Whether a load reads so much after the last snapshot that maintenance is due, or `times` as
    * much.
    */
  def hasMany(read: Lineage, times: Int = 1): Boolean =
    read.changes / times >= deltasPerSnapshot || read.deltaBytes / times >= deltaBytesPerSnapshot

  /** `keyGroups`, for a store without files.
    *
    * @throws io.keyfold.errors.Invalid
    *   if it is not a multiple of `partitions`. After a rescale it need not be: the files decide.
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

object StoreSettings {

  /** A load of less takes some 20 milliseconds. */
  val LazyFromBytes: Long = 1L << 20
}

/** How loading handles a snapshot that cannot be read.
  *
  * @param enabled
  *   whether an older snapshot and more deltas may replace it
  * @param tries
  *   number of attempts to read the snapshot first, at least 1
  * @param maxDeltas
  *   maximum number of deltas to read in its place
  */
final case class SnapshotRepair(enabled: Boolean, tries: Int, maxDeltas: Int)

/** @param verifyEvery
  *   verifies every n-th row read from memory; 0: none. Rows written to a file are always verified.
  */
final case class RowChecksumSettings(verifyEvery: Long)
