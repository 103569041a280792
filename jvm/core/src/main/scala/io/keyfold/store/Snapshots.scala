package io.keyfold.store

import scala.collection.mutable
import scala.util.control.NonFatal

import io.keyfold.format.{Ancestor, FileKind, FileReader}
import io.keyfold.io.Interrupts
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.file.{Lineage, StoreCounters, StoreFiles, StoreSettings}
import io.keyfold.store.load.LoadedVersions
import io.keyfold.store.merge.{DeltaMerge, MergePlan}
import org.slf4j.LoggerFactory

/** The snapshots and merged deltas of one store: when one is due, how it is written, and who is
  * told.
  *
  * @param lock
  *   guards the versions in memory; not held during file access or callbacks
  * @param onSnapshot
  *   called with each version that a load reads few files for
  */
private[store] final class Snapshots(
    lock: AnyRef,
    location: StoreLocation,
    files: StoreFiles,
    settings: StoreSettings,
    counters: StoreCounters,
    onSnapshot: VersionId => Unit
) {
  import Snapshots._

  /** Number of the newest version that a load is known to read few files for. */
  @volatile private var reported = 0L

  def isDue(version: VersionId, lineage: Lineage): Boolean = {
    settings.hasMany(lineage) ||
    // Before Spark takes a store that seldom changes for slow: after five times as many.
    (lineage.changes > 0 && version.version >= reported + 4L * settings.deltasPerSnapshot)
  } && !isReplaced(lineage)

  /** Whether another version has replaced it, as after a rollback. */
  private def isReplaced(lineage: Lineage) = {
    val version = lineage.head.version
    version.id.isEmpty && lineage.file.exists(!files.isHead(version, _))
  }

  /** Merges deltas, or writes a snapshot if there is none to build on, or the files above it have
    * become large beside it.
    *
    * @return
    *   whether a file was written
    */
  def writeDue(version: VersionId, in: LoadedVersions, lineage: Lineage): Boolean =
    MergePlan.of(lineage, settings.deltasPerSnapshot, share) match {
      case Some(chosen) if chosen.lengthIs < 2 =>
        if (version.version > reported) report(version)
        false
      case Some(chosen) if chosen.lengthIs <= MostFiles && merge(in, lineage, chosen) =>
        report(version)
        true
      case _ => write(version, in)
    }

  private val share = settings.snapshotAfterShare * MergePlan.spread(location.partition)

  /** @param chosen
    *   newest first, beginning with the head
    * @return
    *   false if a snapshot is to be written instead: it needs none of these files
    */
  private def merge(in: LoadedVersions, lineage: Lineage, chosen: List[Ancestor]): Boolean = {
    val base = lineage.elements(chosen.size).version
    val tier = Ancestor(lineage.head.version, FileKind.Merged(base.version))
    val opened = mutable.ArrayBuffer.empty[FileReader]
    try {
      chosen.reverse.foreach(it => opened += files.open(it.version, it.kind))
      val merge = new DeltaMerge(opened.toIndexedSeq, files.orderOf(in.keyGroups))
      merge.heapBytes <= MostHeapBytes && {
        val file =
          files.writeMerged(tier, in.keyGroups, lineage.ancestors, merge.families, merge.dropped)(
            merge.writeTo
          )
        counters.merges.increment()
        counters.mergedBytes.add(file.length)
        lock.synchronized(in.tierIsDurable(tier, file.length, Lineage.rowsOf(merge.families)))
        true
      }
    } catch {
      case e: Throwable if Interrupts.mayBeInterrupt(e) => throw e
      case NonFatal(e)                                  =>
        log.warn(s"Cannot merge deltas of $location up to version ${tier.version}", e)
        false
    } finally opened.foreach(_.close())
  }

  /** @return whether the version was still in memory */
  def write(version: VersionId, in: LoadedVersions): Boolean = {
    val written = version.written
    val pinned = lock.synchronized {
      in.lineage(written)
        .filter(_ => in.holds(written))
        .map(lineage => (in.map.pin(written), lineage))
    }
    pinned.foreach { case (view, lineage) =>
      val head = lineage.file.filter(_ => written.id.isEmpty)
      val rows = Lineage.rowsOf(view.families)
      var length = 0L
      try
        // One that another store has written stays: references know files without ids by length.
        if (!head.exists(files.hasSnapshotOf(written, _))) {
          val snapshot = files.writeSnapshot(written, in.keyGroups, lineage.ancestors, view, head)
          counters.snapshots.increment()
          counters.snapshotBytes.add(snapshot.length)
          length = snapshot.length
        }
      finally view.release()
      val tier = Ancestor(written, FileKind.Snapshot)
      lock.synchronized(in.tierIsDurable(tier, length, rows))
      report(version)
    }
    pinned.nonEmpty
  }

  /** For a version that is durable without it, so that a failure must not fail its commit. */
  def tryWrite(version: VersionId, in: LoadedVersions): Unit =
    try {
      write(version, in)
      ()
    } catch {
      case NonFatal(e) => log.warn(s"Cannot write a snapshot of $location version $version", e)
    }

  /** A load of this version reads few files. */
  def report(version: VersionId): Unit = {
    reported = version.version
    onSnapshot(version)
  }

  /** Like [[report]], for a version that has not changed since. It is reported if it is asked for
    * or the last report is old: Spark takes a store for slow whose newest snapshot is many versions
    * old.
    */
  def stillAt(version: VersionId, isAskedFor: Boolean): Unit =
    if (isAskedFor || version.version >= reported + settings.deltasPerSnapshot) report(version)
}

private object Snapshots {
  private val log = LoggerFactory.getLogger(classOf[Snapshots])

  /** Files that are merged at once. */
  private val MostFiles = 200

  /** Bytes of the heap that a merge may take. */
  private val MostHeapBytes = 64L << 20
}
