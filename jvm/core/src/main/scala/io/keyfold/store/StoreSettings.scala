package io.keyfold.store

import io.keyfold.format.Codec

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
  * @param versionsToRetain
  *   how many versions before the newest must stay loadable
  * @param versionsPerCleanup
  *   new versions between two looks for files to delete, at least 1
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
    versionsToRetain: Int,
    versionsPerCleanup: Long,
    versionsInMemory: Int,
    writer: String
)
