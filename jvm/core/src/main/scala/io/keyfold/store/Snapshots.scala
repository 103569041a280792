package io.keyfold.store

import scala.util.control.NonFatal

import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.file.{Lineage, StoreCounters, StoreFiles, StoreSettings}
import io.keyfold.store.load.LoadedVersions
import org.slf4j.LoggerFactory

/** The snapshots of one store: when one is due, how it is written, and who is told.
  *
  * @param lock
  *   guards the versions in memory; not held during file access or callbacks
  * @param onSnapshot
  *   called with each version that a durable snapshot has the rows of
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

  /** Number of the newest version that a snapshot is known to have the rows of. */
  @volatile private var reported = 0L

  def isDue(version: VersionId, lineage: Lineage): Boolean = {
    lineage.deltas >= settings.deltasPerSnapshot ||
    lineage.deltaBytes >= settings.deltaBytesPerSnapshot ||
    // Before Spark takes a store that seldom changes for slow: after five times as many.
    (lineage.deltas > 0 && version.version >= reported + 4L * settings.deltasPerSnapshot)
  } && !isReplaced(lineage)

  /** Whether another version has replaced it, as after a rollback. */
  private def isReplaced(lineage: Lineage) = {
    val version = lineage.head.version
    version.id.isEmpty && lineage.file.exists(!files.isHead(version, _))
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
      try
        // One that another store has written stays: references know files without ids by length.
        if (!head.exists(files.hasSnapshotOf(written, _))) {
          val snapshot = files.writeSnapshot(written, in.keyGroups, lineage.ancestors, view, head)
          counters.snapshots.increment()
          counters.snapshotBytes.add(snapshot.length)
        }
      finally view.release()
      lock.synchronized(in.snapshotIsDurable(written))
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

  /** A snapshot has the rows of this version. */
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
}
