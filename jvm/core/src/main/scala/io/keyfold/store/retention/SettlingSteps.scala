package io.keyfold.store.retention

import io.keyfold.format.{FileKind, PlanName, RescalePlan}
import io.keyfold.io.BlobStore
import io.keyfold.model.StoreLocation

/** The deletions that follow a rescale, one request at a time: a step runs when it is asked for.
  *
  * @param location
  *   of the store that runs them
  * @param forget
  *   deletes a plan
  */
private[store] final class SettlingSteps(
    blobs: BlobStore,
    location: StoreLocation,
    forget: RescalePlan => Unit
) {
  import SettlingSteps._

  /** For a plan whose batch became an ordinary one: deletes the plan and the files that only it can
    * have written.
    */
  def ofVoid(plan: RescalePlan): Iterator[Step] =
    withIds(Seq(plan)).map(delete) ++
      Iterator(plan.name.manifest).map(delete) ++
      forgetting(Seq(plan))

  /** For the newest plan: once no other store has a reference, deletes everything older.
    *
    * @param older
    *   the other plans
    */
  def of(plan: RescalePlan, older: Seq[RescalePlan]): Iterator[Step] = {
    val plans = older :+ plan
    val folders = plans.flatMap(_.stores).flatMap(_.frozen).distinct.filter(_ != location.folder)
    // Plans are deleted last, the newest last of all: they name the files.
    inUse(plan, older.filter(_.name.batch == plan.name.batch)) ++
      folders.iterator.flatMap(allIn(_)(isOlder(plan))) ++
      withIds(older).filterNot(isOwn).map(delete) ++
      allIn(PlanName.Folder)(PlanName.ofManifest(_).exists(_.stateBatch <= plan.name.batch)) ++
      forgetting(plans)
  }

  /** Waits while another store has a reference. Without ids, a reference of the plan may also be
    * named by an uncommitted plan of the same batch.
    */
  private def inUse(plan: RescalePlan, competitors: Seq[RescalePlan]): Iterator[Step] = {
    val named = referencesOf(Seq(plan)) ++ referencesOf(competitors).filterNot(hasId)
    named.distinct.filterNot(isOwn).iterator.flatMap { path =>
      new Iterator[Step] {
        private var isGone = false
        override def hasNext: Boolean = !isGone
        override def next(): Step = {
          isGone = !blobs.exists(path)
          if (isGone) Step.Asked else Step.Waits
        }
      }
    }
  }

  /** Whether it is in this store's own folder, which its own retention cleans up. */
  private def isOwn(path: String) = path.lastIndexOf('/') == location.folder.length &&
    path.startsWith(location.folder)

  /** Only a file with an id certainly belongs to the plan that names it. */
  private def hasId(path: String) =
    FileKind.parse(path.drop(path.lastIndexOf('/') + 1)).exists(_._1.id.nonEmpty)

  /** Whether it is of the old layout. Before an open batch, the old layout has the version too. */
  private def isOlder(plan: RescalePlan): String => Boolean = {
    val own = referencesOf(Seq(plan)).map(RescalePlan.versionOf(_).id).toSet
    name =>
      FileKind.parse(name).exists { case (of, _) =>
        of.version < plan.name.version || of.version < plan.name.floor && !own(of.original.id)
      }
  }

  /** Lists a folder and deletes the files that match. */
  private def allIn(folder: String)(isMeant: String => Boolean): Iterator[Step] = {
    lazy val listed = blobs.list(folder).filter(isMeant)
    Iterator(folder).map { _ =>
      listed
      Step.Asked
    } ++ listed.iterator.map(name => delete(s"$folder/$name"))
  }

  private def referencesOf(plans: Seq[RescalePlan]) = plans.flatMap(_.stores).flatMap(_.references)

  private def withIds(plans: Seq[RescalePlan]): Iterator[String] =
    referencesOf(plans).filter(hasId).iterator

  private def delete(path: String): Step = {
    blobs.delete(path)
    Step.Deleted
  }

  private def forgetting(plans: Seq[RescalePlan]): Iterator[Step] = plans.iterator.map { plan =>
    forget(plan)
    Step.Asked
  }
}

private[store] object SettlingSteps {

  /** The result of a request. */
  sealed trait Step
  object Step {

    /** A file was deleted. */
    case object Deleted extends Step

    /** Nothing was deleted. */
    case object Asked extends Step

    /** A reference still exists: stop here. */
    case object Waits extends Step
  }
}
