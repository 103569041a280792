package io.keyfold.store

import java.time.Clock
import java.util.concurrent.locks.ReentrantLock
import java.util.concurrent.Executor

import io.keyfold.errors.{Invalid, MissingFile}
import io.keyfold.format.FileKind
import io.keyfold.io.{BlobStore, OnFailure, RetryingBlobStore}
import io.keyfold.map.StateMap
import io.keyfold.mem.arena.MemoryUse
import io.keyfold.model.{FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.{RowChecksum, StoreCounters, StoreFiles, StoreSettings}
import io.keyfold.store.load.{FileLoader, LoadedVersions}
import io.keyfold.store.retention.{FrozenFiles, Retention}
import org.slf4j.LoggerFactory

/** The versions of one state store: the facade that the adapter calls.
  *
  * A map has one transaction at a time. A `begin` that finds its version in such a map only waits a
  * second for the other transaction to end, and then loads the version into another map; it does
  * not wait for a transaction of its own thread. So no transaction, not even one that hangs, keeps
  * out another. Reads and maintenance run beside them. Opening a store touches no file.
  *
  * @param families
  *   the column families that every version has; transactions create and drop others
  * @param onSnapshot
  *   called with each durable snapshot, when it is written or found at load
  * @param background
  *   runs maintenance that a load has found to be due, beside the tasks: see [[Upkeep]]
  * @param newMap
  *   makes an empty map, given the number of key groups
  * @param writerWaitMs
  *   how long `begin` waits at least for another thread's transaction; as long as the last load
  *   took, if that was more
  */
final class VersionedStore(
    location: StoreLocation,
    settings: StoreSettings,
    families: Seq[FamilySpec],
    blobStore: BlobStore,
    clock: Clock,
    onSnapshot: VersionId => Unit,
    background: Executor,
    newMap: Int => StateMap,
    writerWaitMs: Long = VersionedStore.WriterWaitMs
) extends AutoCloseable {
  import VersionedStore._

  val counters = new StoreCounters
  private val blobs = new RetryingBlobStore(blobStore, counters.tried(_))
  private val files = new StoreFiles(blobs, location, settings, clock, () => newChecksum())
  private val retention =
    new Retention(files, new FrozenFiles(blobs, location, files), settings, counters)
  private val loader = new FileLoader(
    files,
    location,
    settings,
    counters,
    () => newChecksum(),
    newMap,
    retention.loads
  )
  private val inMemory = new VersionsInMemory(writerWaitMs)
  private val snapshots = new Snapshots(inMemory, location, files, settings, counters, onSnapshot)
  private val upkeep = new Upkeep(
    location,
    settings,
    background,
    () => {
      cleanup()
      snapshotIfDue()
      ()
    }
  )

  private val commits = new Commits(blobs, files, inMemory, snapshots, upkeep, counters)

  /** Held while a version is loaded: other threads that want it wait for that load. */
  private val loads = new ReentrantLock

  @volatile private var lastLoadMs = 0L

  /** Begins the version after `base`, which counts as committed: newer versions in memory are
    * dropped, except for other attempts at the next one.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the version cannot be loaded
    */
  def begin(base: VersionId): StoreTxn = {
    requireSuccessor(base)
    inMemory.awaitWriter(base.written, lastLoadMs)
    withVersion(base.written, !_.isWritten)(begin(base, _, base.written))
  }

  /** Begins the version after `base` without rows. Its commit writes a snapshot and no delta, so it
    * needs none of the earlier files.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the head of `base` exists and cannot be read: it decides the number of key groups
    */
  def beginEmpty(base: VersionId): StoreTxn = {
    requireSuccessor(base)
    val head = loader.head(base.written)
    val keyGroups = head.fold(settings.keyGroupsOfNew)(_.identity.keyGroups)
    inMemory.withNew(empty(keyGroups))(
      begin(base, _, VersionId.Empty, startedEmpty = base.version > 0)
    )
  }

  /** Begins another attempt at `version`, which has an id, with its column families and without
    * rows. Its commit writes a snapshot and no delta, so it needs nothing that the version was
    * built on. It is to get the id of [[io.keyfold.model.VersionId.again]], by which a rescale that
    * has made the version stays known (`FrozenFiles`).
    *
    * @throws io.keyfold.errors.StoreError
    *   if the head of `version` cannot be read
    */
  def beginAgain(version: VersionId): StoreTxn =
    beginEmptied(VersionId(version.version - 1), families = version)

  /** Begins the version after `base` with its column families and without rows. Its commit writes a
    * snapshot and no delta, so it needs none of the earlier files.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the head of `base` cannot be read
    */
  def beginEmptied(base: VersionId): StoreTxn = {
    requireSuccessor(base)
    beginEmptied(base, families = base)
  }

  /** @param families
    *   the version that has the column families
    */
  private def beginEmptied(base: VersionId, families: VersionId): StoreTxn = {
    val head = loader.head(families.written).getOrElse {
      throw new MissingFile(s"$location version $families", "its column families are needed.")
    }
    inMemory.withNew(empty(head.identity.keyGroups)) {
      begin(base, _, VersionId.Empty, startedEmpty = true, head.families.map(_.spec))
    }
  }

  /** Like [[begin]], with a base rebuilt from exactly the snapshot `snapshot`. */
  def beginReplayed(snapshot: VersionId, base: VersionId): StoreTxn = {
    requireSuccessor(base)
    inMemory.withNew(replayed(snapshot, base))(begin(base, _, base.written))
  }

  private def replayed(snapshot: VersionId, end: VersionId) =
    loader.replay(snapshot.written, end.written)

  private def requireSuccessor(base: VersionId): Unit =
    if (base.version == Long.MaxValue) {
      throw new Invalid(
        "KEYFOLD_INVALID_VERSION",
        s"Cannot begin on version $base of $location: it is the largest version number"
      )
    }

  /** The caller holds the lock.
    *
    * @param rowsOf
    *   the version in memory whose rows it begins with
    * @param kept
    *   column families that it has besides
    */
  private def begin(
      base: VersionId,
      in: LoadedVersions,
      rowsOf: VersionId,
      startedEmpty: Boolean = false,
      kept: Seq[FamilySpec] = Nil
  ): StoreTxn = {
    in.retain(base, settings.versionsInMemory)
    in.begun = base.version
    inMemory.confirm(in, base)
    val rows = in.map.begin(rowsOf)
    val txn = OnFailure(rows.release()) {
      new StoreTxn(
        commits,
        location,
        base,
        in,
        rows,
        kept ++ families,
        settings,
        newChecksum(),
        startedEmpty
      )
    }
    in.writer = Thread.currentThread
    txn
  }

  /** A view of a committed version; the caller releases it.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the version cannot be loaded
    */
  def read(version: VersionId): StoreView = withVersion(version.written, _ => true) { in =>
    val view = new StoreView(in.map.pin(version.written), version, location, newChecksum())
    inMemory.confirmUnlessOld(in, version)
    view
  }

  /** A view of `version` rebuilt from exactly the snapshot `snapshot` and the deltas after it; the
    * caller releases it. The versions in memory stay as they are.
    *
    * @throws io.keyfold.errors.StoreError
    *   if there is no such snapshot, or a delta cannot be read
    */
  def readReplayed(snapshot: VersionId, version: VersionId): StoreView = {
    val in = replayed(snapshot, version)
    val view = new StoreView(in.map.pin(version.written), version, location, newChecksum())
    in.map.close()
    view
  }

  /** The changes of a column family from version `from` to version `end`, inclusive.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the deltas cannot be found or read
    */
  def changes(from: Long, end: VersionId, family: String): ChangeFeed =
    new ChangeFeed(files, loader.versions(from, end), family)

  /** Merges deltas, or writes a snapshot, if enough deltas have been written since the last time.
    *
    * Only of a version that a caller has built on or read, so that an attempt that was never
    * committed leaves no such file.
    *
    * @return
    *   the version of the file
    */
  def snapshotIfDue(): Option[VersionId] = upkeep.beside {
    inMemory.newestConfirmed.collect {
      case (version, in, lineage)
          if snapshots.isDue(version, lineage) && snapshots.writeDue(version, in, lineage) =>
        version.written
    }
  }

  /** Deletes files that no retained version needs.
    *
    * @return
    *   number of files deleted
    */
  def cleanup(): Int = upkeep.beside {
    inMemory.newestConfirmed.fold(0) { case (version, _, lineage) =>
      retention.cleanup(
        version.version,
        lineage,
        () => inMemory.newestConfirmed.fold(version.version)(_._1.version)
      )
    }
  }

  /** Memory used by the store's rows. */
  def memory: MemoryUse = inMemory.use

  /** Releases memory once the views and transactions that use it are released, and keeps no version
    * in memory from then on. Spark may close a store that a task has found but not yet used: such a
    * task can still load versions, and abort or commit a transaction, whose file counts.
    */
  override def close(): Unit = {
    inMemory.close()
    blobs.close()
  }

  /** Number of files that a load of a version would read; 0 if the version is not in memory. */
  def filesToLoad(version: VersionId): Int =
    inMemory
      .withLoaded(version.written, _ => true)(_.lineage(version.written))
      .flatten
      .fold(0)(_.elements.length)

  /** Loads a version into memory, unless it is in a map that is fit, and calls `use` with it under
    * the lock.
    */
  private def withVersion[T](version: VersionId, isFit: LoadedVersions => Boolean)(
      use: LoadedVersions => T
  ): T =
    withLoaded(version, isFit)(use).getOrElse {
      loads.lockInterruptibly()
      try withLoaded(version, isFit)(use).getOrElse(inMemory.withNew(fresh(version))(use))
      finally loads.unlock()
    }

  private def withLoaded[T](version: VersionId, isFit: LoadedVersions => Boolean)(
      use: LoadedVersions => T
  ): Option[T] = {
    val found = inMemory.withLoaded(version, isFit)(use)
    if (found.isDefined) counters.memoryHits.increment()
    found
  }

  private def fresh(version: VersionId): LoadedVersions =
    if (version == VersionId.Empty) empty(settings.keyGroupsOfNew) else loadFiles(version)

  private def empty(keyGroups: Int) = new LoadedVersions(newMap(keyGroups), keyGroups)

  private def loadFiles(version: VersionId): LoadedVersions = {
    val start = clock.millis()
    val in = loader.load(version)
    lastLoadMs = clock.millis() - start
    counters.loads.increment()
    counters.loadMs.add(lastLoadMs)
    if (in.keyGroups != settings.keyGroups) {
      log.info(
        "{} has {} key groups in its files; the setting {} is not used",
        location,
        in.keyGroups,
        settings.keyGroups
      )
    }
    OnFailure(in.map.close()) {
      val lineage = in.lineageOf(version)
      if (lineage.bottom.kind == FileKind.Reference) counters.rescaledLoads.increment()
      lineage.elements
        .find(_.kind.isTier)
        .map(_.version)
        .foreach(snapshots.report)
      upkeep.loaded(lineage)
    }
    in
  }

  private def newChecksum() =
    RowChecksum.of(settings.rowChecksums, location, () => inMemory.forget())
}

object VersionedStore {
  private val log = LoggerFactory.getLogger(classOf[VersionedStore])

  /** A task that was killed ends within it. */
  private val WriterWaitMs = 1000L
}
