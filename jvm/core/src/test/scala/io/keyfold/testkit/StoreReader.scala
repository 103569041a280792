package io.keyfold.testkit

import java.time.Clock

import io.keyfold.format.wire.Codec
import io.keyfold.io.BlobStore
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.file.{SnapshotRepair, StoreSettings}
import io.keyfold.store.{StoreView, VersionedStore}

/** Loads versions from files that somebody else has written. */
object StoreReader {

  /** Loads a version and hands its rows over, for as long as `body` runs.
    *
    * @param blobs
    *   the checkpoint
    * @param partitions
    *   N of that version
    */
  def read(blobs: BlobStore, location: StoreLocation, partitions: Int, version: VersionId)(
      body: StoreView => Unit
  ): Unit = {
    val newMap = new ArenaMap(_: Int, new PagePool(Long.MaxValue, None))
    val store = new VersionedStore(
      location,
      settings(partitions),
      Nil,
      blobs,
      Clock.systemUTC(),
      _ => (),
      _ => (),
      newMap
    )
    try {
      val view = store.read(version)
      try body(view)
      finally view.release()
    } finally store.close()
  }

  /** Nothing is kept, repaired or deleted. */
  private def settings(partitions: Int) = StoreSettings(
    partitions,
    checksPartitions = true,
    keyGroups = partitions,
    Codec.Plain,
    deltasPerSnapshot = Int.MaxValue,
    deltaBytesPerSnapshot = Long.MaxValue,
    snapshotAfterShare = 0.5,
    SnapshotRepair(enabled = false, tries = 1, maxDeltas = Int.MaxValue),
    rowChecksums = None,
    versionsToRetain = Int.MaxValue,
    versionsPerCleanup = 1,
    deletesPerCleanup = 1,
    versionsInMemory = 1,
    writer = "reader",
    lazyFromBytes = StoreSettings.LazyFromBytes
  )
}
