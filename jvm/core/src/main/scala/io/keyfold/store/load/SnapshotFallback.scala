package io.keyfold.store.load

import scala.annotation.tailrec

import io.keyfold.errors.{MissingFile, UnreadableVersion}
import io.keyfold.format.{Ancestor, FileKind}
import io.keyfold.store.file.{SnapshotRepair, StoreCounters, VersionChain}
import org.slf4j.LoggerFactory

/** Decides, for one load, whether other files may replace a snapshot or merged delta that cannot be
  * read.
  *
  * @param target
  *   store and version, for messages
  */
private[store] final class SnapshotFallback(
    target: String,
    settings: SnapshotRepair,
    counters: StoreCounters
) {
  import ChainApplier.Unusable
  import SnapshotFallback._

  /** Why a file could not be read, the first of them. */
  private var damaged: Option[Throwable] = None

  /** Builds a version from the first chain whose files can be used; a file that cannot be read is
    * tried several times.
    *
    * @param chainWithout
    *   the chain with the fewest files that has none of the given ones; it is found by reading
    *   footers
    * @return
    *   what the chain has given; None if there is none
    * @throws io.keyfold.errors.UnreadableVersion
    *   if another chain may not be used
    */
  def build[T](chainWithout: Set[Ancestor] => Option[VersionChain])(
      apply: VersionChain => Either[Unusable, T]
  ): Option[T] = {
    @tailrec
    def without(unusable: Set[Ancestor]): Option[T] = chainWithout(unusable) match {
      case None        => None
      case Some(chain) =>
        checkLimit(chain.changes.size)
        built(chain, 1)(apply) match {
          case Right(made)                   => Some(made)
          case Left(Unusable.Replaced(file)) =>
            log.warn(
              s"Loading $target without ${nameOf(file)}: the delta that it was made from was " +
                "replaced later, as after a rollback."
            )
            without(unusable + file)
          case Left(Unusable.Damaged(file, cause)) =>
            val replaced = replaceable(chain, file).getOrElse(throw cause)
            if (!isGone(replaced, cause)) giveUp(cause)
            without(unusable + replaced)
        }
    }
    without(Set.empty)
  }

  /** Whether retention may have deleted it for others of that version: no damage, so no repair. */
  private def isGone(file: Ancestor, cause: Throwable) =
    file.kind.base.isDefined && isMissing(cause)

  /** What other files may be read in the place of: the file, or if it is a delta, the merged delta
    * that is applied to what it gives.
    */
  private def replaceable(chain: VersionChain, file: Ancestor): Option[Ancestor] =
    if (file.kind != FileKind.Delta) Some(file)
    else chain.changes.dropWhile(_ != file).find(_.kind.base.isDefined)

  @tailrec
  private def built[T](chain: VersionChain, n: Int)(
      apply: VersionChain => Either[Unusable, T]
  ): Either[Unusable, T] = {
    val made = apply(chain)
    made match {
      case Left(Unusable.Damaged(file, cause)) =>
        val mayPass = damaged.isEmpty && file.kind != FileKind.Delta && !isMissing(cause)
        val tries = if (mayPass) settings.tries else 1
        log.warn(
          s"Cannot use ${nameOf(file)} to load $target (try $n of $tries): ${cause.getMessage}"
        )
        if (n < tries) built(chain, n + 1)(apply) else made
      case _ => made
    }
  }

  private def nameOf(file: Ancestor) = file.kind.nameOf(file.version)

  private def giveUp(cause: Throwable): Unit = {
    if (!settings.enabled) {
      throw new UnreadableVersion(
        s"Cannot load $target: ${cause.getMessage} An older snapshot and more deltas may " +
          "give the same version: set " +
          "spark.sql.streaming.stateStore.autoSnapshotRepair.enabled=true.",
        cause
      )
    }
    counters.snapshotFallbacks.increment()
    damaged = damaged.orElse(Some(cause))
  }

  private def checkLimit(deltas: Int): Unit =
    damaged.filter(_ => deltas > settings.maxDeltas).foreach { cause =>
      throw new UnreadableVersion(
        s"Cannot load $target: ${cause.getMessage} Without it $deltas deltas would have " +
          s"to be read, more than the ${settings.maxDeltas} that " +
          "spark.sql.streaming.stateStore.autoSnapshotRepair.maxChangeFileReplay allows.",
        cause
      )
    }
}

private[load] object SnapshotFallback {
  private val log = LoggerFactory.getLogger(classOf[SnapshotFallback])

  /** Whether a load has failed because a file is not there. */
  def isMissing(cause: Throwable): Boolean =
    cause.isInstanceOf[MissingFile] || cause.getCause.isInstanceOf[MissingFile]
}
