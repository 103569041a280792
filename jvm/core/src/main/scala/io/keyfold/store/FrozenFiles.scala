package io.keyfold.store

import io.keyfold.errors.CorruptFile
import io.keyfold.format.{Ancestor, FileKind, RescalePlan, VersionId}
import io.keyfold.io.BlobStore
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

  /** Newest first; nothing: not looked yet. A running query gets no plan, but may lose some. */
  private var names: Option[Seq[PlanName]] = None

  private var newestPlan: Option[RescalePlan] = None

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

  /** Does for the newest plan what can be done, if that falls to this store.
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
  def settle(made: Long => Option[Ancestor], base: Option[VersionId], most: Int): Int =
    if (location.partition != 0) 0
    else
      names.getOrElse(Nil) match {
        case newest +: older =>
          newestPlan = newestPlan.filter(_.name == newest.name).orElse(read(newest.name))
          newestPlan.filter(isDeleter).fold(0)(settle(_, older, made, base, most))
        case _ => 0
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
      val deleted = delete(withIds(Seq(plan)), most)
      if (deleted < most) forget(plan.name)
      deleted
    case _ if base.forall(_.version <= plan.version) || isInUse(plan, older) => 0
    case _                                                                   =>
      val plans = older.flatMap(name => read(name.name)) :+ plan
      val folders = plans.flatMap(_.stores).flatMap(_.frozen).distinct.filter(_ != location.folder)
      val ofNobody = folders.iterator.flatMap(olderThan(plan.version, _)) ++ withIds(plans)
      val deleted = delete(ofNobody.filterNot(isOwn), most)
      // The newest goes last: it is what the files of the others are found by.
      if (deleted < most) plans.foreach(p => forget(p.name))
      deleted
  }

  /** Whether another store still has a reference. Without ids that of the plan may be named by
    * another plan of its batch, which was not made good.
    */
  private def isInUse(plan: RescalePlan, older: Seq[PlanName]): Boolean = {
    val rivals = older.takeWhile(_.batch == plan.batch).map(name => read(name.name))
    def references(of: RescalePlan) = of.stores.flatMap(_.references)
    val all = references(plan) ++ rivals.flatten.flatMap(references).filterNot(hasId)
    rivals.contains(None) || all.distinct.filterNot(isOwn).exists(blobs.exists)
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

  /** In this store's own folder, where its own retention goes on from here. */
  private def isOwn(path: String) = path.lastIndexOf('/') == location.folder.length &&
    path.startsWith(location.folder)

  /** Only such a file is certain to be of the plan that names it. */
  private def hasId(path: String) =
    FileKind.parse(path.drop(path.lastIndexOf('/') + 1)).exists(_._1.id.nonEmpty)

  private def olderThan(version: Long, folder: String): Seq[String] = blobs
    .list(folder)
    .filter(FileKind.parse(_).exists(_._1.version < version))
    .map(name => s"$folder/$name")

  /** References with ids of these plans, as far as they are there. */
  private def withIds(plans: Seq[RescalePlan]): Iterator[String] = plans
    .flatMap(_.stores)
    .flatMap(_.references)
    .filter(hasId)
    .groupBy(path => path.take(path.lastIndexOf('/')))
    .iterator
    .flatMap { case (folder, paths) =>
      val listed = blobs.list(folder).toSet
      paths.filter(path => listed(path.drop(folder.length + 1)))
    }

  /** @return how many; less than `most` if none is left */
  private def delete(paths: Iterator[String], most: Int): Int =
    paths.take(most).map(blobs.delete).size

  private def forget(name: String): Unit = {
    blobs.delete(s"${RescalePlan.Folder}/$name")
    names = names.map(_.filterNot(_.name == name))
    newestPlan = newestPlan.filterNot(_.name == name)
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

  private final case class PlanName(batch: Long, name: String)
}
