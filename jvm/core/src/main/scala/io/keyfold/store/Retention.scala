package io.keyfold.store

import io.keyfold.errors.StoreError
import io.keyfold.format.{FileKind, VersionId}
import org.slf4j.LoggerFactory

import scala.util.control.NonFatal

/** Decides which files nobody needs any more, and deletes them.
  *
  * A version to be retained needs nothing older than the newest readable snapshot at or below it.
  * So the oldest such snapshot is looked for, opened to be sure, and only what is older is deleted.
  * A listing that lags makes it delete less, never more.
  *
  * Not thread-safe: maintenance calls it.
  */
private[store] final class Retention(
    files: StoreFiles,
    settings: StoreSettings,
    counters: StoreCounters
) {
  import Retention._

  private var lastLooked = 0L

  /** @param newest
    *   the newest version known to be committed for good
    * @return
    *   number of files deleted
    */
  def cleanup(newest: VersionId): Int = {
    val oldestToRetain = newest.version - settings.versionsToRetain
    val due = newest.version - lastLooked >= settings.versionsPerCleanup
    if (oldestToRetain <= 0 || !due) 0
    else {
      lastLooked = newest.version
      val listed = files.list()
      val snapshots = listed.collect {
        case (version, FileKind.Snapshot) if version.version <= oldestToRetain => version
      }
      snapshots.sortBy(-_.version).find(isReadable).fold(0) { base =>
        val old = listed.filter { case (version, _) => version.version < base.version }
        old.sortBy { case (version, _) => version.version }.count { case (version, kind) =>
          delete(version, kind)
        }
      }
    }
  }

  /** Whether footer and end are as they should be; blocks are not read. */
  private def isReadable(version: VersionId): Boolean =
    try {
      files.open(version, FileKind.Snapshot).close()
      true
    } catch {
      case e: StoreError =>
        log.warn("Keeping files older than version {}: {}", version, e.getMessage)
        false
    }

  private def delete(version: VersionId, kind: FileKind): Boolean =
    try {
      files.delete(version, kind)
      counters.filesDeleted.increment()
      true
    } catch {
      case NonFatal(e) =>
        log.warn(s"Cannot delete ${files.describe(version, kind)}, trying again later", e)
        false
    }
}

private object Retention {
  private val log = LoggerFactory.getLogger(classOf[Retention])
}
