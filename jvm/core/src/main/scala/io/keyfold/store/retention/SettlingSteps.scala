package io.keyfold.store.retention

import io.keyfold.format.{FileKind, Manifest, RescalePlan}
import io.keyfold.io.BlobStore
import io.keyfold.model.StoreLocation

/** What is to be deleted of a rescale, a request at a time: each step is made when it is asked for.
  *
  * @param location
  *   of the store that does it
  * @param forget
  *   deletes a plan
  */
private[store] final class SettlingSteps(
    blobs: BlobStore,
    location: StoreLocation,
    forget: RescalePlan => Unit
) {
  import SettlingSteps._

  /** Of a plan whose batch became an ordinary one: the plan goes, and what only it can have
    * written.
    */
  def ofVoid(plan: RescalePlan): Iterator[Step] =
    withIds(Seq(plan)).map(delete) ++ Iterator(Manifest.pathOf(plan.batch, plan.id)).map(delete) ++
      forgetting(Seq(plan))

  /** Of the newest plan: once no other store has a reference, all that is older goes.
    *
    * @param older
    *   the other plans
    */
  def of(plan: RescalePlan, older: Seq[RescalePlan]): Iterator[Step] = {
    val plans = older :+ plan
    val folders = plans.flatMap(_.stores).flatMap(_.frozen).distinct.filter(_ != location.folder)
    // The plans go last, and the newest last of them: it is what the files are found by.
    inUse(plan, older.filter(_.batch == plan.batch)) ++
      folders.iterator.flatMap(allIn(_)(isOlder(plan.version))) ++
      withIds(older).filterNot(isOwn).map(delete) ++
      allIn(RescalePlan.Folder)(Manifest.parseName(_).exists(_._1 <= plan.batch)) ++
      forgetting(plans)
  }

  /** Waits as long as another store has a reference. Without ids that of the plan may be named by
    * another plan of its batch, which was not committed.
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

  /** In this store's own folder, where its own retention goes on from here. */
  private def isOwn(path: String) = path.lastIndexOf('/') == location.folder.length &&
    path.startsWith(location.folder)

  /** Only such a file is certain to be of the plan that names it. */
  private def hasId(path: String) =
    FileKind.parse(path.drop(path.lastIndexOf('/') + 1)).exists(_._1.id.nonEmpty)

  private def isOlder(version: Long)(name: String) =
    FileKind.parse(name).exists(_._1.version < version)

  /** Lists a folder, and deletes the files that are meant. */
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

  /** What a request has come to. */
  sealed trait Step
  object Step {

    /** A file is gone. */
    case object Deleted extends Step

    /** Nothing, but it was a request. */
    case object Asked extends Step

    /** A reference is still there: no use to go on. */
    case object Waits extends Step
  }
}
