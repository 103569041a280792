package io.keyfold.store

import java.time.Clock
import java.util.concurrent.locks.ReentrantLock
import java.util.concurrent.{Executor, TimeUnit}

import io.keyfold.errors.{Invalid, MissingFile}
import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.io.{BlobStore, RetryingBlobStore}
import io.keyfold.map.StateMap
import io.keyfold.mem.arena.MemoryUse
import io.keyfold.model.{FamilySpec, StoreLocation, VersionId}
import io.keyfold.store.file.{Lineage, RowChecksum, StoreCounters, StoreFiles, StoreSettings}
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
  private val blobs = new RetryingBlobStore(blobStore, () => counters.retries.increment())
  private val files = new StoreFiles(blobs, location, settings, clock, () => newChecksum())
  private val loader =
    new FileLoader(files, location, settings, counters, () => newChecksum(), newMap)
  private val retention =
    new Retention(files, new FrozenFiles(blobs, location, files), settings, counters)
  private val snapshots = new Snapshots(this, location, files, settings, counters, onSnapshot)
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

  /** Held while a version is loaded: other threads that want it wait for that load. */
  private val loads = new ReentrantLock

  @volatile private var lastLoadMs = 0L

  // Guarded by this. The lock is never held during file access or callbacks.
  /** The map that was used last is the first. */
  private var maps = List.empty[LoadedVersions]
  private var confirmed: Option[VersionId] = None
  private var closed = false

  /** Begins the version after `base`, which counts as committed: newer versions in memory are
    * dropped, except for other attempts at the next one.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the version cannot be loaded
    */
  def begin(base: VersionId): StoreTxn = {
    requireSuccessor(base)
    awaitWriter(base.written)
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
    withNew(empty(keyGroups))(begin(base, _, VersionId.Empty, startedEmpty = base.version > 0))
  }

  /** Begins another attempt at `version`, which has an id, with its column families and without
    * rows. Its commit writes a snapshot and no delta, so it needs nothing that the version was
    * built on. It is to get the id of [[io.keyfold.model.VersionId.again]], by which a rescale that
    * has made the version stays known (`FrozenFiles`).
    *
    * @throws io.keyfold.errors.StoreError
    *   if the head of `version` cannot be read
    */
  def beginAgain(version: VersionId): StoreTxn = {
    val head = loader.head(version.written).getOrElse {
      throw new MissingFile(s"$location version $version", "another attempt at it needs its file.")
    }
    val base = VersionId(version.version - 1)
    val txn = withNew(empty(head.identity.keyGroups)) {
      begin(base, _, VersionId.Empty, startedEmpty = true)
    }
    try {
      head.families.foreach(family => txn.createFamily(family.spec))
      txn
    } catch {
      case e: Throwable =>
        txn.release()
        throw e
    }
  }

  /** Like [[begin]], with a base rebuilt from exactly the snapshot `snapshot`. */
  def beginReplayed(snapshot: VersionId, base: VersionId): StoreTxn = {
    requireSuccessor(base)
    withNew(replayed(snapshot, base))(begin(base, _, base.written))
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
    */
  private def begin(
      base: VersionId,
      in: LoadedVersions,
      rowsOf: VersionId,
      startedEmpty: Boolean = false
  ): StoreTxn = {
    in.retain(base, settings.versionsInMemory)
    in.begun = base.version
    keep(in, base)
    confirmed = Some(base)
    val rows = in.map.begin(rowsOf)
    try {
      val txn = new StoreTxn(
        TxnOwner,
        location,
        base,
        in,
        rows,
        families,
        settings,
        newChecksum(),
        startedEmpty
      )
      in.writer = Thread.currentThread
      txn
    } catch {
      case e: Throwable =>
        rows.release()
        throw e
    }
  }

  /** A view of a committed version; the caller releases it.
    *
    * @throws io.keyfold.errors.StoreError
    *   if the version cannot be loaded
    */
  def read(version: VersionId): StoreView = withVersion(version.written, _ => true) { in =>
    val view = new StoreView(in.map.pin(version.written), version, location, newChecksum())
    val isOld = maps.flatMap(_.newest).exists(_.version > version.written.version)
    if (!isOld) {
      keep(in, version)
      confirmed = Some(version)
    } else if (!maps.contains(in)) in.map.close()
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

  /** Writes a snapshot if enough deltas have been written since the last one.
    *
    * Only of a version that a caller has built on or read, so that an attempt that was never
    * committed leaves no snapshot.
    *
    * @return
    *   the version of the snapshot
    */
  def snapshotIfDue(): Option[VersionId] = upkeep.beside {
    newestConfirmed.collect {
      case (version, in, lineage)
          if snapshots.isDue(version, lineage) && snapshots.write(version, in) =>
        version.written
    }
  }

  /** Deletes files that no retained version needs.
    *
    * @return
    *   number of files deleted
    */
  def cleanup(): Int = upkeep.beside {
    newestConfirmed.fold(0) { case (version, _, lineage) =>
      retention.cleanup(version.version, lineage)
    }
  }

  private def newestConfirmed: Option[(VersionId, LoadedVersions, Lineage)] = synchronized {
    for {
      version <- confirmed
      in <- maps.find(_.holds(version.written))
      lineage <- in.lineage(version.written)
    } yield (version, in, lineage)
  }

  /** Memory used by the store's rows. */
  def memory: MemoryUse = synchronized(maps).map(_.map.memory).foldLeft(MemoryUse.None)(_ + _)

  /** Keeps a map, and the others that have this version too: they are written to, or were beside
    * another transaction on it. One that was beside a transaction on an earlier version is not kept
    * for rows that have not changed since.
    */
  private def keep(in: LoadedVersions, version: VersionId): Unit = {
    def isOfUse(other: LoadedVersions) =
      other.holds(version.written) && (other.isWritten || other.begun >= version.version)
    drop(other => (other ne in) && !isOfUse(other))
    maps = in :: maps.filter(_ ne in)
  }

  private def drop(which: LoadedVersions => Boolean): Unit = {
    val (dropped, kept) = maps.partition(which)
    dropped.foreach(_.map.close())
    maps = kept
  }

  /** Releases memory once the views and transactions that use it are released, and keeps no version
    * in memory from then on. Spark may close a store that a task has found but not yet used: such a
    * task can still load versions, and abort or commit a transaction, whose file counts.
    */
  override def close(): Unit = {
    synchronized {
      closed = true
      forget()
    }
    blobs.close()
  }

  /** Waits for a map that has the version, if other threads write to all of them. */
  private def awaitWriter(version: VersionId): Unit = synchronized {
    val most = math.max(writerWaitMs, math.min(lastLoadMs, MostWriterWaitMs))
    val end = System.nanoTime + TimeUnit.MILLISECONDS.toNanos(most)
    var left = most
    while (mayAwait(version) && left > 0) {
      wait(left)
      left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime)
    }
  }

  private def mayAwait(version: VersionId) = {
    val having = maps.filter(_.holds(version))
    version != VersionId.Empty && having.nonEmpty && having.forall(_.isWritten) &&
    !maps.exists(_.writer eq Thread.currentThread)
  }

  /** Loads a version into memory, unless it is in a map that is fit, and calls `use` with it under
    * the lock.
    */
  private def withVersion[T](version: VersionId, isFit: LoadedVersions => Boolean)(
      use: LoadedVersions => T
  ): T =
    withLoaded(version, isFit)(use).getOrElse {
      loads.lockInterruptibly()
      try withLoaded(version, isFit)(use).getOrElse(withNew(fresh(version))(use))
      finally loads.unlock()
    }

  private def withLoaded[T](version: VersionId, isFit: LoadedVersions => Boolean)(
      use: LoadedVersions => T
  ): Option[T] =
    synchronized {
      val found = maps.find(in => in.holds(version) && isFit(in))
      if (found.isDefined) counters.memoryHits.increment()
      found.map(use)
    }

  private def withNew[T](in: LoadedVersions)(use: LoadedVersions => T): T = synchronized {
    try use(in)
    finally
      if (closed) {
        in.map.close()
        forget()
      }
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
    try {
      val lineage = in.lineageOf(version)
      if (lineage.bottom.kind == FileKind.Reference) counters.rescaledLoads.increment()
      lineage.elements
        .find(_.kind == FileKind.Snapshot)
        .map(_.version)
        .foreach(snapshots.report)
      upkeep.loaded(lineage)
    } catch {
      case e: Throwable =>
        in.map.close()
        throw e
    }
    in
  }

  private def commit(txn: StoreTxn, version: VersionId, forceSnapshot: Boolean): VersionId = {
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
    synchronized(txn.loaded.lineageOf(base)).bottom.kind != FileKind.Reference
  }

  /** Writes nothing but a snapshot that is asked for. */
  private def commitUnchanged(txn: StoreTxn, forceSnapshot: Boolean): VersionId = {
    val version = txn.base.unchanged
    val deltas = synchronized {
      txn.rows.commit(version.written)
      txn.loaded.lineageOf(version.written).deltas
    }
    if (deltas == 0) snapshots.stillAt(version, forceSnapshot)
    else if (forceSnapshot) snapshots.tryWrite(version, txn.loaded)
    version
  }

  private def commitWritten(txn: StoreTxn, version: VersionId, forceSnapshot: Boolean): Unit = {
    val lineage = if (txn.startedEmpty) commitSnapshot(txn, version) else commitDelta(txn, version)
    synchronized {
      txn.rows.commit(version)
      txn.loaded.committed(lineage)
    }
    counters.retries.add(blobs.clientRetries())
    if (txn.startedEmpty) snapshots.report(version)
    else if (forceSnapshot) snapshots.tryWrite(version, txn.loaded)
    // Attempts without ids share a file: of two at once, memory cannot tell whose it is.
    if (version.id.isEmpty) synchronized(if (maps.exists(_ ne txn.loaded)) forget())
  }

  /** Without ids a version can be committed twice: after a rollback with other rows, or by a zombie
    * executor with the same rows. The new delta invalidates an earlier snapshot of that version,
    * but later versions may have been built on it. So the snapshot is replaced first.
    */
  private def commitDelta(txn: StoreTxn, version: VersionId): Lineage = {
    val base = synchronized(txn.loaded.lineageOf(txn.base.written))
    if (version.id.isEmpty && files.hasSnapshot(version)) {
      files.writeSnapshot(version, txn.loaded.keyGroups, base.elements, txn.rows)
    }
    val delta = files.writeDelta(version, txn.loaded.keyGroups, base.elements, txn.rows)
    counters.deltas.increment()
    counters.deltaBytes.add(delta.length)
    base.grown(version, delta)
  }

  /** For a transaction that started empty. Deletes a delta of the same name, which would be read as
    * the head.
    */
  private def commitSnapshot(txn: StoreTxn, version: VersionId): Lineage = {
    val snapshot = files.writeSnapshot(version, txn.loaded.keyGroups, Nil, txn.rows)
    if (version.id.isEmpty) files.delete(version, FileKind.Delta)
    counters.snapshots.increment()
    counters.snapshotBytes.add(snapshot.length)
    Lineage(List(Ancestor(version, FileKind.Snapshot)))
  }

  private def newChecksum() = RowChecksum.of(settings.rowChecksums, location, () => forget())

  /** Drops the versions in memory, as when a row is damaged: the next task loads from files. */
  private def forget(): Unit = synchronized(drop(_ => true))

  private object TxnOwner extends StoreTxn.Owner {
    override def commit(txn: StoreTxn, version: VersionId, forceSnapshot: Boolean): VersionId =
      VersionedStore.this.commit(txn, version, forceSnapshot)

    override def ended(txn: StoreTxn): Unit = VersionedStore.this.synchronized {
      txn.loaded.writer = null
      VersionedStore.this.notifyAll()
    }
  }
}

object VersionedStore {
  private val log = LoggerFactory.getLogger(classOf[VersionedStore])

  /** A task that was killed ends within it. */
  private val WriterWaitMs = 1000L

  /** A load that takes longer is better than no end. */
  private val MostWriterWaitMs = 60000L
}
