package io.keyfold.store.retention

import scala.annotation.tailrec
import scala.util.control.NonFatal

import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.model.VersionId
import io.keyfold.store.file.{
  Lineage,
  Listing,
  StoreCounters,
  StoreFiles,
  StoreSettings,
  VersionChain
}
import org.slf4j.LoggerFactory

/** Deletes unreferenced files.
  *
  * A retained version needs nothing older than the newest snapshot or merged delta at or below it
  * in its own lineage, except for the merged deltas and the snapshot that this one builds on.
  * These, the base, are found by walking the lineage of a committed version down from one to the
  * next, and opened to check them. They are never taken from a listing, which may show those of
  * attempts that were never committed. Other files older than the base are deleted, also those
  * whose writer was killed, unless a rescale has frozen them. A listing that lags makes it delete
  * less, never more.
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

  /** Versions that were there when the first one was loaded, or if none was, at the first look, and
    * are newer than it.
    */
  @volatile private var leftBefore: Option[Set[VersionId]] = None

  /** What is older than this was deleted; late files of failed attempts wait for the next one. */
  private var cleaned: Option[VersionId] = None

  /** Lineages of snapshots and merged deltas, which do not change if they have ids. */
  private var known = Map.empty[Ancestor, List[Ancestor]]

  /** A version is to be loaded: what is newer, but for attempts at the next one, is left from
    * before, as when somebody has deleted Spark's newest logs.
    */
  def loads(version: VersionId, there: Listing): Unit =
    if (leftBefore.isEmpty && there.isKnown)
      leftBefore = Some(there.versionsFrom(version.version + 2))

  /** @param version
    *   number of the newest version known to be committed
    * @param newest
    *   the lineage of the version whose files have its rows
    * @param newestNow
    *   the number of the newest version known to be committed when it is called
    * @return
    *   number of files deleted
    */
  def cleanup(version: Long, newest: Lineage, newestNow: () => Long): Int = synchronized {
    val oldestToRetain = version - settings.versionsToRetain
    val due = version - lastLooked >= settings.versionsPerCleanup
    if (oldestToRetain <= 0 || !due) 0
    else {
      val base = baseOf(newest, oldestToRetain)
      val oldest = base.headOption.map(_.version)
      frozen.look()
      frozen.forgetRedistributions(oldestToRetain)
      val needed = base.lastOption.map(_.version)
      val thawed = frozen.settle(ancestor(version, newest, _), needed, settings.deletesPerCleanup)
      counters.filesDeleted.add(thawed.toLong)
      val deleted = if (oldest.forall(cleaned.contains)) {
        if (!frozen.hasMore) lastLooked = version
        0
      } else {
        val names = files.list()
        if (isMaintainedElsewhere(names, newestNow())) 0
        else clean(version, between(names, frozen.floor, base.map(_.version)), oldest)
      }
      known = known.filter { case (it, _) => needed.forall(_.version <= it.version.version) }
      thawed + deleted
    }
  }

  private def clean(version: Long, stale: Seq[StaleVersion], oldest: Option[VersionId]): Int = {
    val (now, later) = stale.splitAt(settings.deletesPerCleanup)
    val deleted = now.map(deleteInOrder).sum
    if (later.isEmpty && !frozen.hasMore) lastLooked = version
    if (frozen.floor == 0 && deleted == stale.map(_.size).sum) cleaned = oldest
    deleted
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
          val of = below.version
          if (own.lengthIs == 1 && of.original != of) own ++ files.lineageOf(of.original)
          else own
        }
        .dropWhile(_.version.version > version)
        .nextOption()
    }

  /** The newest snapshot or merged delta of the lineage that is not newer than `oldestToRetain`,
    * and the files that it is applied to; empty if one cannot be read.
    */
  private def baseOf(newest: Lineage, oldestToRetain: Long): List[Ancestor] = {
    @tailrec
    def find(lineage: List[Ancestor]): List[Ancestor] = lineage match {
      case here :: below if !here.kind.isTier                  => find(below)
      case here :: _ if here.version.version <= oldestToRetain => lineage
      case here :: below                                       =>
        // What it was made of leads to a base that is newer than the one below it.
        val made = lineageOf(here)
        find(if (made.isEmpty) below else made.tail)
      case Nil => Nil
    }
    val (merged, snapshot) = find(newest.elements).span(_.kind.base.isDefined)
    val base = merged ++ snapshot.take(1).filter(_.kind == FileKind.Snapshot)
    val isWhole = base.lastOption.exists(_.kind == FileKind.Snapshot)
    def isKnown = base.headOption.map(_.version).exists(cleaned.contains)
    if (isWhole && (isKnown || base.forall(files.lineageIn(_).nonEmpty))) base else Nil
  }

  /** What a file says that the version was made of, after the version itself; empty if it cannot be
    * read or is not valid.
    */
  private def lineageOf(tier: Ancestor): List[Ancestor] =
    known.getOrElse(
      tier, {
        val found = files.lineageIn(tier)
        if (tier.version.id.nonEmpty && found.nonEmpty) known += tier -> found
        found
      }
    )

  /** Without snapshots and merged deltas of the base's versions: another lineage may have the one
    * where this one has the other.
    *
    * @param base
    *   newest first
    */
  private def between(
      names: Seq[String],
      floor: Long,
      base: List[VersionId]
  ): Seq[StaleVersion] = {
    val listed = for {
      name <- names
      (version, kind) <- FileKind.parse(name).orElse(FileKind.parseUnfinished(name))
      if version.version >= floor || frozen.isOwn(version, kind)
      if version.version < base.head.version || isReplaced(version, kind, base.head)
      if !(kind.isTier && base.contains(version) && FileKind.parse(name).isDefined)
    } yield (version.version, kind, name)
    listed
      .groupBy { case (version, _, _) => version }
      .toSeq
      .sortBy { case (version, _) => version }
      .map { case (_, of) =>
        of.sortBy { case (_, kind, _) => kind != FileKind.Snapshot }.map(_._3)
      }
  }

  /** Whether versions have appeared that this process has not begun: another one goes on, with
    * merged deltas on top of files that this one does not know to be needed.
    *
    * @param newest
    *   number of the newest version that is known to be committed, since the names were listed
    */
  private def isMaintainedElsewhere(names: Seq[String], newest: Long): Boolean = {
    val beyond = Listing.ofNames(names).versionsFrom(newest + 2)
    val before = leftBefore.getOrElse(beyond)
    leftBefore = Some(before)
    val found = beyond -- before
    if (found.nonEmpty) {
      log.warn(
        "Deleting no files of {}: version {} is there, which another process has written",
        files.describe(""),
        found.head
      )
    }
    found.nonEmpty
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
