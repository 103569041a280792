package io.keyfold.store.load

import io.keyfold.errors.UnreadableVersion
import io.keyfold.format.FileKind
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
  import ChainApplier.{BadSnapshot, OthersSnapshot}
  import SnapshotFallback._

  private var broken: Option[BadSnapshot] = None

  /** Builds a version from a chain; a snapshot is tried several times.
    *
    * @return
    *   false if the chain's snapshot cannot be used
    * @throws io.keyfold.errors.UnreadableVersion
    *   if another chain may not be used
    */
  def tryBuild(chain: VersionChain)(build: VersionChain => Unit): Boolean = {
    checkLimit(chain.deltas.size)
    if (chain.start.exists(_.kind == FileKind.Snapshot)) trySnapshot(chain)(build)
    else {
      build(chain)
      true
    }
  }

  private def trySnapshot(chain: VersionChain)(build: VersionChain => Unit): Boolean = {
    val tries = if (broken.isEmpty) settings.tries else 1
    val snapshot = s"the snapshot of version ${chain.start.get.version}"
    try
      (1 to tries).exists { n =>
        try {
          build(chain)
          true
        } catch {
          case e: BadSnapshot =>
            log.warn(
              s"Cannot use $snapshot to load $target (try $n of $tries): ${e.getCause.getMessage}"
            )
            if (n == tries) giveUp(e)
            false
        }
      }
    catch {
      case _: OthersSnapshot =>
        log.warn(
          s"Loading $target without $snapshot: the delta that it was made from was replaced later, " +
            "as after a rollback."
        )
        false
    }
  }

  private def giveUp(snapshot: BadSnapshot): Unit = {
    if (!settings.enabled) {
      throw new UnreadableVersion(
        s"Cannot load $target: ${snapshot.getCause.getMessage} An older snapshot and more deltas may " +
          "give the same version: set " +
          "spark.sql.streaming.stateStore.autoSnapshotRepair.enabled=true.",
        snapshot.getCause
      )
    }
    counters.snapshotFallbacks.increment()
    broken = broken.orElse(Some(snapshot))
  }

  private def checkLimit(deltas: Int): Unit =
    broken.filter(_ => deltas > settings.maxDeltas).foreach { snapshot =>
      throw new UnreadableVersion(
        s"Cannot load $target: ${snapshot.getCause.getMessage} Without it $deltas deltas would have " +
          s"to be read, more than the ${settings.maxDeltas} that " +
          "spark.sql.streaming.stateStore.autoSnapshotRepair.maxChangeFileReplay allows.",
        snapshot.getCause
      )
    }
}

private object SnapshotFallback {
  private val log = LoggerFactory.getLogger(classOf[SnapshotFallback])
}
