package io.keyfold.store.retention

import io.keyfold.errors.CorruptFile
import io.keyfold.format.{Ancestor, FileKind, PlanName, RescalePlan}
import io.keyfold.io.BlobStore
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.file.StoreFiles
import org.slf4j.LoggerFactory

/** Deletes the files that a rescale left for other partitions.
  *
  * While the plan of a rescale exists, a store deletes nothing older than the version that the
  * rescale made: another partition may need it. One store, the plan's first in partition 0, deletes
  * all those files in all folders of the plan, once the retention of every other new partition has
  * deleted its reference, and this store no longer needs its own. Until then it keeps all its own
  * files: they show that the rescale took place. If the plan's batch became an ordinary batch, the
  * plan and its own files are deleted and the old files are kept.
  *
  * It works in shares, since Spark's maintenance has few threads: a call makes at most [[Share]]
  * requests, and the next call continues. After a restart it starts over with the files that are
  * left.
  *
  * Of several plans the newest counts: when nothing older than its version is needed, nothing older
  * than theirs is.
  *
  * Plans of redistributions freeze nothing: what they replace is of their store's own partitions,
  * and retained as long as its batch is. They are deleted with it, the newest first: until then a
  * query that was rolled back to it goes by what the oldest of them found.
  *
  * Not thread-safe: maintenance calls it.
  */
private[store] final class FrozenFiles(
    blobs: BlobStore,
    location: StoreLocation,
    files: StoreFiles
) {
  import FrozenFiles._
  import SettlingSteps.Step

  /** Of rescales, newest first; None: not listed yet. While a query runs, plans are deleted but
    * never added.
    */
  private var names: Option[Seq[PlanName]] = None

  private var redistributions = Seq.empty[RescalePlan]

  private var newestPlan: Option[RescalePlan] = None

  private val steps = new SettlingSteps(blobs, location, forget)

  /** The name of the current work and its remaining steps. */
  private var work: Option[(String, Iterator[Step])] = None

  /** Whether the last call left work that only needs another call. */
  var hasMore = false

  /** Lists the plans, unless there were none before. A plan that was lost is known by its manifest,
    * and counts as one that cannot be read.
    */
  def look(): Unit = if (!names.exists(_.isEmpty)) {
    val found = blobs.list(PlanName.Folder).flatMap(PlanName.ofFile).distinct
    if (names.isEmpty) {
      redistributions = found.filter(_.isOpen).flatMap(read).filter(_.isRedistribution)
    }
    val rescales = found.filterNot(name => redistributions.exists(_.name == name))
    names = Some(rescales.sortBy(name => (-name.batch, name.id)))
  }

  /** This store must not delete files of versions below this, but for [[isOwn]]. */
  def floor: Long = newest.fold(0L)(plan => if (mayBeDeleter) Long.MaxValue else plan.floor)

  /** Whether a file below the floor is certainly no file of the old layout: before an open batch
    * the old layout and the references that replace it have the same version.
    */
  def isOwn(version: VersionId, kind: FileKind): Boolean = !mayBeDeleter &&
    kind == FileKind.Reference && newest.exists(plan =>
      plan.isOpen && plan.batch == version.version
    )

  private def newest = names.getOrElse(Nil).headOption

  /** A store that cannot read the plan does not know whether it is the one that deletes. */
  private def mayBeDeleter = location.partition == 0 && newestPlan.forall(isDeleter)

  /** For partition 0: whether this is the plan's first store. */
  private def isDeleter(plan: RescalePlan) = plan.stores.headOption.exists { store =>
    store.operator == location.operator && store.store == location.store
  }

  /** Deletes the plans of redistributions of this store that no start goes by any more.
    *
    * @param oldest
    *   number of the oldest version that is retained
    */
  def forgetRedistributions(oldest: Long): Unit =
    redistributions
      .filter(plan => location.partition == 0 && isDeleter(plan) && plan.name.version <= oldest)
      .sortBy(_.name.number)
      .reverse
      .foreach(forget)

  /** Runs a share of the work for the newest plan, if this store is the one to do it; the next call
    * continues.
    *
    * @param made
    *   the file that has the rows of a version of this store, if its lineage still reaches so far
    * @param base
    *   the oldest version of this store that is needed, a snapshot
    * @param most
    *   maximum number of files to delete
    * @return
    *   number of files deleted
    */
  def settle(made: Long => Option[Ancestor], base: Option[VersionId], most: Int): Int = {
    hasMore = false
    if (location.partition != 0) 0
    else
      names.getOrElse(Nil) match {
        case newest +: older =>
          newestPlan = newestPlan.filter(_.name == newest).orElse(read(newest))
          newestPlan.filter(isDeleter).fold(0)(settle(_, older, made, base, most))
        case _ => 0
      }
  }

  private def settle(
      plan: RescalePlan,
      older: Seq[PlanName],
      made: Long => Option[Ancestor],
      base: Option[VersionId],
      most: Int
  ): Int =
    // Until the plan's batch is committed, a plan before an open batch may still come true.
    if (made(plan.name.floor).isEmpty && plan.name.isOpen) 0
    else
      made(plan.name.version) match {
        case None                              => 0
        case Some(other) if !isOf(plan, other) =>
          run(s"void ${plan.name}", steps.ofVoid(plan), most)
        case _ if base.forall(_.version < plan.name.version) => 0
        case _ => run(plan.name.toString, settling(plan, older), most)
      }

  private def settling(plan: RescalePlan, older: Seq[PlanName]): Iterator[Step] = {
    val competitors = older.takeWhile(_.batch == plan.name.batch).map(read)
    // The references of a plan that cannot be read are unknown.
    if (competitors.contains(None)) Iterator(Step.Waits)
    else steps.of(plan, older.flatMap(read))
  }

  /** Continues the steps of this work where the last call stopped, or starts them.
    *
    * @return
    *   number of files deleted
    */
  private def run(name: String, all: => Iterator[Step], most: Int): Int = {
    val iterator = work.filter(_._1 == name).fold(all)(_._2)
    work = None
    var (deleted, requests, waits) = (0, 0, false)
    while (!waits && requests < Share && deleted < most && iterator.hasNext) {
      iterator.next() match {
        case Step.Deleted => deleted += 1
        case Step.Waits   => waits = true
        case Step.Asked   => ()
      }
      requests += 1
    }
    if (iterator.hasNext) work = Some(name -> iterator)
    hasMore = work.nonEmpty && !waits
    deleted
  }

  /** Whether this plan's rescale made the version, or the attempt in whose place it is. No other
    * attempt has the id of a reference; without ids, a batch's delta may have its name.
    */
  private def isOf(plan: RescalePlan, made: Ancestor): Boolean = {
    val of = made.version.original
    val reference = files.path(of, FileKind.Reference)
    plan.stores.head.references.contains(reference) && {
      made.kind == FileKind.Reference || of.id.nonEmpty ||
      (made.kind == FileKind.Snapshot && blobs.exists(reference) &&
        !blobs.exists(files.path(of, FileKind.Delta)))
    }
  }

  private def forget(plan: RescalePlan): Unit = {
    blobs.delete(plan.name.path)
    names = names.map(_.filterNot(_ == plan.name))
    redistributions = redistributions.filterNot(_.name == plan.name)
    newestPlan = newestPlan.filterNot(_.name == plan.name)
  }

  /** None if the plan cannot be used; nothing is deleted then. */
  private def read(name: PlanName): Option[RescalePlan] =
    try Some(RescalePlan.read(blobs, name))
    catch {
      case e @ (_: CorruptFile | _: java.io.IOException) =>
        log.warn(s"Keeping the files of the rescale with plan $name: ${e.getMessage}")
        None
    }
}

private object FrozenFiles {
  private val log = LoggerFactory.getLogger(classOf[FrozenFiles])

  /** Maximum number of requests per call: some seconds with an object store. */
  private val Share = 500
}
