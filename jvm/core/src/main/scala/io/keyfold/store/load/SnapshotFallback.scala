package io.keyfold.store.load

import scala.annotation.tailrec

import io.keyfold.errors.UnreadableVersion
import io.keyfold.store.file.{SnapshotRepair, StoreCounters, VersionChain}
import org.slf4j.LoggerFactory

/** Decides, for one load, whether older snapshots and more deltas may replace a snapshot that
  * cannot be read.
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

  /** Why a snapshot could not be read, the newest of them. */
  private var damaged: Option[Throwable] = None

  /** Builds a version from the first chain whose snapshot can be used; a snapshot that cannot be
    * read is tried several times.
    *
    * @param chains
    *   the one with the fewest deltas first; the next one is found by reading footers, if the
    *   snapshot of the one before cannot be used
    * @return
    *   what the chain has given; None if there is none
    * @throws io.keyfold.errors.UnreadableVersion
    *   if another chain may not be used
    */
  def build[T](chains: Iterator[VersionChain])(
      apply: VersionChain => Either[Unusable, T]
  ): Option[T] =
    chains
      .flatMap { chain =>
        checkLimit(chain.deltas.size)
        built(chain, 1)(apply)
      }
      .nextOption()

  @tailrec
  private def built[T](chain: VersionChain, n: Int)(
      apply: VersionChain => Either[Unusable, T]
  ): Option[T] = {
    def snapshot = s"the snapshot of version ${chain.start.get.version}"
    apply(chain) match {
      case Right(made)             => Some(made)
      case Left(Unusable.Replaced) =>
        log.warn(
          s"Loading $target without $snapshot: the delta that it was made from was replaced later, " +
            "as after a rollback."
        )
        None
      case Left(Unusable.Damaged(cause)) =>
        val tries = if (damaged.isEmpty) settings.tries else 1
        log.warn(s"Cannot use $snapshot to load $target (try $n of $tries): ${cause.getMessage}")
        if (n < tries) built(chain, n + 1)(apply)
        else {
          giveUp(cause)
          None
        }
    }
  }

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

private object SnapshotFallback {
  private val log = LoggerFactory.getLogger(classOf[SnapshotFallback])
}
