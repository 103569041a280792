package io.keyfold.store.retention

import io.keyfold.errors.CorruptFile
import io.keyfold.format.{Ancestor, FileKind, RescalePlan}
import io.keyfold.io.BlobStore
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.file.StoreFiles
import org.slf4j.LoggerFactory

/** Files that a rescale left for other partitions, and who deletes them.
  *
  * While the plan of a rescale is there, a store deletes nothing older than the version that the
  * rescale made: another partition may need it. One store deletes all of that, in all folders that
  * the plan names, the plan's first in partition 0, once every new partition has dropped its
  * reference, which its own retention does, and it would itself. Until then it keeps all its own
  * files: they tell that the rescale took place. A plan whose batch became an ordinary one is
  * deleted without its files.
  *
  * It does so in shares, since Spark's maintenance has few threads: a call asks at most [[Share]]
  * times, and the next goes on from there. After a restart it begins again with what is left.
  *
  * Of several plans the newest counts: when nobody needs what is older than its version, nobody
  * needs what is older than theirs.
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

  /** Newest first; nothing: not looked yet. A running query gets no plan, but may lose some. */
  private var names: Option[Seq[PlanName]] = None

  private var newestPlan: Option[RescalePlan] = None

  private val steps = new SettlingSteps(blobs, location, forget)

  /** What is being done, by a name of it, and what is left of it. */
  private var work: Option[(String, Iterator[Step])] = None

  /** Whether the last call has left something that needs no more than another call. */
  var hasMore = false

  /** Looks for plans, if there may be any. */
  def look(): Unit = if (!names.exists(_.isEmpty)) {
    val found = blobs.list(RescalePlan.Folder).flatMap { name =>
      RescalePlan.parseName(name).map { case (batch, _) => PlanName(batch, name) }
    }
    names = Some(found.sortBy(plan => (-plan.batch, plan.name)))
  }

  /** Files of versions below this are not this store's to delete. */
  def floor: Long = names.getOrElse(Nil).headOption.fold(0L) { newest =>
    // Who cannot read the plan does not know whether it is the one that deletes.
    val mayDelete = location.partition == 0 && newestPlan.forall(isDeleter)
    if (mayDelete) Long.MaxValue else newest.batch + 1
  }

  /** Of partition 0: whether it is the plan's first store. */
  private def isDeleter(plan: RescalePlan) = plan.stores.headOption.exists { store =>
    store.operator == location.operator && store.store == location.store
  }

  /** Does for the newest plan some of what can be done, if that falls to this store; a further call
    * goes on from there.
    *
    * @param made
    *   finds what is known of a version of this store, if that goes back so far: how it came to be
    * @param base
    *   the oldest version that is needed of this store, a snapshot
    * @param most
    *   how many files to delete
    * @return
    *   how many were deleted
    */
  def settle(made: Long => Option[Ancestor], base: Option[VersionId], most: Int): Int = {
    hasMore = false
    if (location.partition != 0) 0
    else
      names.getOrElse(Nil) match {
        case newest +: older =>
          newestPlan = newestPlan.filter(_.name == newest.name).orElse(read(newest.name))
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
  ): Int = made(plan.version) match {
    case None                              => 0
    case Some(other) if !isOf(plan, other) =>
      run(s"void ${plan.name}", steps.ofVoid(plan), most)
    case _ if base.forall(_.version <= plan.version) => 0
    case _                                           => run(plan.name, settling(plan, older), most)
  }

  private def settling(plan: RescalePlan, older: Seq[PlanName]): Iterator[Step] = {
    val competitors = older.takeWhile(_.batch == plan.batch).map(name => read(name.name))
    // Who cannot read one of them does not know what it refers to.
    if (competitors.contains(None)) Iterator(Step.Waits)
    else steps.of(plan, older.flatMap(name => read(name.name)))
  }

  /** Takes steps: of this work, from where the last call has stopped, or from the start.
    *
    * @return
    *   how many have deleted a file
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

  /** Whether a version was made by the rescale of that plan. */
  private def isOf(plan: RescalePlan, made: Ancestor): Boolean = {
    val reference = files.path(made.version, FileKind.Reference)
    plan.stores.head.references.contains(reference) && {
      made.kind == FileKind.Reference ||
      (made.kind == FileKind.Snapshot && blobs.exists(reference) &&
        !blobs.exists(files.path(made.version, FileKind.Delta)))
    }
  }

  private def forget(plan: RescalePlan): Unit = {
    blobs.delete(s"${RescalePlan.Folder}/${plan.name}")
    names = names.map(_.filterNot(_.name == plan.name))
    newestPlan = newestPlan.filterNot(_.name == plan.name)
  }

  /** Nothing if it cannot be used; nothing is deleted then. */
  private def read(name: String): Option[RescalePlan] =
    try Some(RescalePlan.read(blobs, name))
    catch {
      case e @ (_: CorruptFile | _: java.io.IOException) =>
        log.warn(s"Keeping the files that plan $name of a rescale has frozen: ${e.getMessage}")
        None
    }
}

private object FrozenFiles {
  private val log = LoggerFactory.getLogger(classOf[FrozenFiles])

  /** Most requests of a call: some seconds with an object store. */
  private val Share = 500

  private final case class PlanName(batch: Long, name: String)
}
