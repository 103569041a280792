package io.keyfold.store

import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.io.RetryingBlobStore
import io.keyfold.model.VersionId
import io.keyfold.store.file.{Lineage, StoreCounters, StoreFiles}

/** Makes transactions of one store durable: docs/design/walks.md. */
private[store] final class Commits(
    blobs: RetryingBlobStore,
    files: StoreFiles,
    inMemory: VersionsInMemory,
    snapshots: Snapshots,
    upkeep: Upkeep,
    counters: StoreCounters
) {

  /** Makes a transaction's rows a version: writes the file first, then updates memory.
    *
    * @return
    *   the version, which may have another id
    */
  def commit(txn: StoreTxn, version: VersionId, forceSnapshot: Boolean): VersionId = {
    val committed =
      if (mayStay(txn, version) && txn.rows.isUnchanged) commitUnchanged(txn, forceSnapshot)
      else {
        commitWritten(txn, version, forceSnapshot)
        version
      }
    upkeep.committed(version.version)
    committed
  }

  /** Whether the base's files may stand for the version too. Without ids they may be replaced. On
    * top of a reference versions are written, so that a snapshot takes its place and the files from
    * before the rescale can go.
    */
  private def mayStay(txn: StoreTxn, version: VersionId) = {
    val base = txn.base.written
    version.id.nonEmpty && base.id.nonEmpty && !txn.startedEmpty &&
    inMemory.synchronized(txn.loaded.lineageOf(base)).bottom.kind != FileKind.Reference
  }

  /** Writes nothing but a snapshot that is asked for. */
  private def commitUnchanged(txn: StoreTxn, forceSnapshot: Boolean): VersionId = {
    val version = txn.base.unchanged
    val changes = inMemory.synchronized {
      txn.rows.commit(version.written)
      txn.loaded.lineageOf(version.written).changes
    }
    if (changes == 0) snapshots.stillAt(version, forceSnapshot)
    else if (forceSnapshot) snapshots.tryWrite(version, txn.loaded)
    version
  }

  private def commitWritten(txn: StoreTxn, version: VersionId, forceSnapshot: Boolean): Unit = {
    val lineage = if (txn.startedEmpty) commitSnapshot(txn, version) else commitDelta(txn, version)
    inMemory.synchronized {
      txn.rows.commit(version)
      txn.loaded.committed(lineage)
    }
    counters.repeated(blobs.clientRetries())
    if (txn.startedEmpty) snapshots.report(version)
    else if (forceSnapshot) snapshots.tryWrite(version, txn.loaded)
    // Attempts without ids share a file: of two at once, memory cannot tell whose it is.
    if (version.id.isEmpty) inMemory.forgetIfBeside(txn.loaded)
  }

  /** Without ids a version can be committed twice: after a rollback with other rows, or by a zombie
    * executor with the same rows. The new delta invalidates an earlier snapshot of that version,
    * but later versions may have been built on it. So the snapshot is replaced first.
    */
  private def commitDelta(txn: StoreTxn, version: VersionId): Lineage = {
    val base = inMemory.synchronized(txn.loaded.lineageOf(txn.base.written))
    if (version.id.isEmpty && files.hasSnapshot(version)) {
      files.writeSnapshot(version, txn.loaded.keyGroups, base.elements, txn.rows)
    }
    val delta = files.writeDelta(version, txn.loaded.keyGroups, base.elements, txn.rows)
    counters.deltas.increment()
    counters.deltaBytes.add(delta.length)
    base.grown(Ancestor(version, FileKind.Delta), delta, Lineage.rowsOf(txn.rows.families))
  }

  /** For a transaction that started empty. Deletes a delta of the same name, which would be read as
    * the head.
    */
  private def commitSnapshot(txn: StoreTxn, version: VersionId): Lineage = {
    val snapshot = files.writeSnapshot(version, txn.loaded.keyGroups, Nil, txn.rows)
    if (version.id.isEmpty) files.delete(version, FileKind.Delta)
    counters.snapshots.increment()
    counters.snapshotBytes.add(snapshot.length)
    Lineage.Empty
      .grown(Ancestor(version, FileKind.Snapshot), snapshot, Lineage.rowsOf(txn.rows.families))
      .copy(file = None)
  }

  /** The transaction writes no more. */
  def ended(txn: StoreTxn): Unit = inMemory.written(txn.loaded)
}
