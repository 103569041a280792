package io.keyfold.store.retention

import scala.annotation.tailrec
import scala.util.control.NonFatal

import io.keyfold.errors.StoreError
import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.model.VersionId
import io.keyfold.store.file.{Lineage, StoreCounters, StoreFiles, StoreSettings}
import org.slf4j.LoggerFactory

/** Deletes unreferenced files.
  *
  * A retained version needs nothing older than the newest snapshot at or below it in its own
  * lineage. That snapshot, the base, is found by walking the lineage of a committed version down
  * from snapshot to snapshot, and opened to check it. Snapshots are never taken from a listing,
  * which may show those of attempts that were never committed. Files older than the base are
  * deleted, unless a rescale has frozen them. A listing that lags makes it delete less, never more.
  *
  * Not thread-safe: maintenance calls it.
  */
private[store] final class Retention(
    files: StoreFiles,
    frozen: FrozenFiles,
    settings: StoreSettings,
    counters: StoreCounters
) {
  import Retention._

  private var lastLooked = 0L

  /** @param newest
    *   the newest version known to be committed
    * @return
    *   number of files deleted
    */
  def cleanup(newest: Lineage): Int = {
    val version = newest.head.version.version
    val oldestToRetain = version - settings.versionsToRetain
    val due = version - lastLooked >= settings.versionsPerCleanup
    if (oldestToRetain <= 0 || !due) 0
    else {
      val oldest = base(newest.bottom, oldestToRetain)
      frozen.look()
      val thawed = frozen.settle(ancestor(newest.elements, _), oldest, settings.deletesPerCleanup)
      counters.filesDeleted.add(thawed.toLong)
      val stale = oldest.fold(Seq.empty[StaleVersion])(between(frozen.floor, _))
      val (now, later) = stale.splitAt(settings.deletesPerCleanup)
      if (later.isEmpty && !frozen.hasMore) lastLooked = version
      thawed + now.map(deleteInOrder).sum
    }
  }

  /** How an ancestor of the newest version was made, as far as files still show it. */
  @tailrec
  private def ancestor(elements: Seq[Ancestor], version: Long): Option[Ancestor] =
    elements.find(_.version.version == version) match {
      case None if elements.lastOption.exists(isSnapshotAfter(_, version)) =>
        ancestor(lineageOf(elements.last.version).getOrElse(Nil), version)
      case found => found
    }

  private def isSnapshotAfter(bottom: Ancestor, version: Long) =
    bottom.kind == FileKind.Snapshot && bottom.version.version > version

  /** The newest snapshot of the lineage that is not newer than `oldestToRetain`. */
  @tailrec
  private def base(bottom: Ancestor, oldestToRetain: Long): Option[VersionId] =
    if (bottom.kind != FileKind.Snapshot) None
    else
      lineageOf(bottom.version) match {
        case Some(_) if bottom.version.version <= oldestToRetain => Some(bottom.version)
        case Some(lineage) if lineage.nonEmpty => base(lineage.last, oldestToRetain)
        case _                                 => None
      }

  /** None if the snapshot cannot be read or is not valid. Reads no blocks. */
  private def lineageOf(snapshot: VersionId): Option[Seq[Ancestor]] =
    try {
      val file = files.open(snapshot, FileKind.Snapshot)
      val footer =
        try file.footer
        finally file.close()
      Option.when(footer.head.forall(files.isHead(snapshot, _)))(footer.lineage)
    } catch {
      case e: StoreError =>
        log.warn("Keeping files older than version {}: {}", snapshot, e.getMessage)
        None
    }

  private def between(floor: Long, base: VersionId): Seq[StaleVersion] =
    files
      .list()
      .filter { case (version, _) => version.version >= floor && version.version < base.version }
      .groupBy { case (version, _) => version.version }
      .toSeq
      .sortBy { case (version, _) => version }
      .map { case (_, files) => files.sortBy { case (_, kind) => kind != FileKind.Snapshot } }

  /** Stops at the first failure: a snapshot that remains needs its delta, which shows whether it is
    * valid.
    *
    * @return
    *   number of files deleted
    */
  private def deleteInOrder(stale: StaleVersion): Int =
    stale.takeWhile { case (version, kind) => delete(version, kind) }.size

  private def delete(version: VersionId, kind: FileKind): Boolean =
    try {
      files.delete(version, kind)
      counters.filesDeleted.increment()
      true
    } catch {
      case NonFatal(e) =>
        log.warn(s"Cannot delete ${files.describe(version, kind)}, trying again later", e)
        false
    }
}

private object Retention {
  private val log = LoggerFactory.getLogger(classOf[Retention])

  /** The files of all attempts at a version, snapshots first. */
  private type StaleVersion = Seq[(VersionId, FileKind)]
}
