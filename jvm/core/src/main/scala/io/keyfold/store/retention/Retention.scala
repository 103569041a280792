package io.keyfold.store.retention

import scala.util.control.NonFatal

import io.keyfold.errors.StoreError
import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.model.VersionId
import io.keyfold.store.file.{Lineage, StoreCounters, StoreFiles, StoreSettings, VersionChain}
import org.slf4j.LoggerFactory

/** Deletes unreferenced files.
  *
  * A retained version needs nothing older than the newest snapshot at or below it in its own
  * lineage. That snapshot, the base, is found by walking the lineage of a committed version down
  * from snapshot to snapshot, and opened to check it. Snapshots are never taken from a listing,
  * which may show those of attempts that were never committed. Files older than the base are
  * deleted, also those whose writer was killed, unless a rescale has frozen them. A listing that
  * lags makes it delete less, never more.
  *
  * One thread at a time: Spark's maintenance and a task that unloads its store may both ask.
  */
private[store] final class Retention(
    files: StoreFiles,
    frozen: FrozenFiles,
    settings: StoreSettings,
    counters: StoreCounters
) {
  import Retention._

  private var lastLooked = 0L

  /** What is older than this was deleted; late files of failed attempts wait for the next one. */
  private var cleaned: Option[VersionId] = None

  /** Lineages of snapshots, which do not change if they have ids. */
  private var known = Map.empty[VersionId, List[Ancestor]]

  /** @param version
    *   number of the newest version known to be committed
    * @param newest
    *   the lineage of the version whose files have its rows
    * @return
    *   number of files deleted
    */
  def cleanup(version: Long, newest: Lineage): Int = synchronized {
    val oldestToRetain = version - settings.versionsToRetain
    val due = version - lastLooked >= settings.versionsPerCleanup
    if (oldestToRetain <= 0 || !due) 0
    else {
      val oldest = base(newest, oldestToRetain)
      frozen.look()
      frozen.forgetRedistributions(oldestToRetain)
      val thawed = frozen.settle(ancestor(version, newest, _), oldest, settings.deletesPerCleanup)
      counters.filesDeleted.add(thawed.toLong)
      val floor = frozen.floor
      val stale =
        oldest.filterNot(cleaned.contains).fold(Seq.empty[StaleVersion])(between(floor, _))
      val (now, later) = stale.splitAt(settings.deletesPerCleanup)
      val deleted = now.map(deleteInOrder).sum
      if (later.isEmpty && !frozen.hasMore) lastLooked = version
      if (floor == 0 && deleted == stale.map(_.size).sum) cleaned = oldest
      known = known.filter { case (it, _) => oldest.forall(_.version <= it.version) }
      thawed + deleted
    }
  }

  /** The file that has the rows of a version at or below the newest, as far as files still show it:
    * below an attempt in the place of another one, that one's are older.
    */
  private def ancestor(newest: Long, lineage: Lineage, version: Long): Option[Ancestor] =
    if (newest < version) None
    else {
      VersionChain
        .ancestry(lineage.elements) { below =>
          val own = lineageOf(below)
          if (own.lengthIs == 1 && below.original != below) own ++ files.lineageOf(below.original)
          else own
        }
        .dropWhile(_.version.version > version)
        .nextOption()
    }

  /** The newest snapshot of the lineage that is not newer than `oldestToRetain`. */
  private def base(newest: Lineage, oldestToRetain: Long): Option[VersionId] =
    ancestry(newest)
      .find(it => it.kind == FileKind.Snapshot && it.version.version <= oldestToRetain)
      .map(_.version)
      .filter(it => cleaned.contains(it) || readLineageOf(it).nonEmpty)

  private def ancestry(newest: Lineage) = VersionChain.ancestry(newest.elements)(lineageOf)

  private def lineageOf(version: VersionId): List[Ancestor] =
    known.getOrElse(
      version, {
        val found = readLineageOf(version)
        if (version.id.nonEmpty && found.nonEmpty) known += version -> found
        found
      }
    )

  /** As the snapshot of a version says; empty if that cannot be read or is not valid. Reads no
    * blocks.
    */
  private def readLineageOf(version: VersionId): List[Ancestor] =
    try
      files.snapshot(version).fold(List.empty[Ancestor]) { footer =>
        Ancestor(version, FileKind.Snapshot) :: footer.lineage.toList
      }
    catch {
      case e: StoreError =>
        log.warn("Keeping files older than version {}: {}", version, e.getMessage)
        Nil
    }

  private def between(floor: Long, base: VersionId): Seq[StaleVersion] = {
    val listed = for {
      name <- files.list()
      (version, kind) <- FileKind.parse(name).orElse(FileKind.parseUnfinished(name))
      if version.version >= floor || frozen.isOwn(version, kind)
      if version.version < base.version || isReplaced(version, kind, base)
    } yield (version.version, kind, name)
    listed
      .groupBy { case (version, _, _) => version }
      .toSeq
      .sortBy { case (version, _) => version }
      .map { case (_, of) =>
        of.sortBy { case (_, kind, _) => kind != FileKind.Snapshot }.map(_._3)
      }
  }

  /** A reference of the base's version: the base is a snapshot of it, or is in its place. */
  private def isReplaced(version: VersionId, kind: FileKind, base: VersionId) =
    kind == FileKind.Reference && (version == base || version == base.original)

  /** Stops at the first failure: a snapshot that remains needs its delta, which shows whether it is
    * valid.
    *
    * @return
    *   number of files deleted
    */
  private def deleteInOrder(stale: StaleVersion): Int = stale.takeWhile(delete).size

  private def delete(name: String): Boolean =
    try {
      files.delete(name)
      counters.filesDeleted.increment()
      true
    } catch {
      case NonFatal(e) =>
        log.warn(s"Cannot delete ${files.describe(name)}, retrying later", e)
        false
    }
}

private object Retention {
  private val log = LoggerFactory.getLogger(classOf[Retention])

  /** Names of the files of all attempts at a version, snapshots first. */
  private type StaleVersion = Seq[String]
}
