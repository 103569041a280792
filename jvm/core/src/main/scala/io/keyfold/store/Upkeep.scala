package io.keyfold.store

import java.util.concurrent.Executor
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.ReentrantReadWriteLock

import scala.util.control.NonFatal

import io.keyfold.model.StoreLocation
import io.keyfold.store.file.{Lineage, StoreSettings}
import org.slf4j.LoggerFactory

/** Maintenance that cannot wait for its turn, because the process may end before it.
  *
  * A load that had to read more than is allowed since the last snapshot leads to a cleanup and a
  * snapshot of what was loaded, in the background, once its transaction is committed: a store that
  * is only read writes nothing. What does not get done before the process ends is due again at the
  * next load. If that goes on until twice as much has to be read, the committing thread does it,
  * each partition in another version.
  *
  * The cleanup comes first: if the process ends between the two, the next load is still due.
  *
  * @param background
  *   runs the work of all stores of the process with few threads, or drops it
  * @param work
  *   the cleanup and the snapshot
  */
private[store] final class Upkeep(
    location: StoreLocation,
    settings: StoreSettings,
    background: Executor,
    work: () => Unit
) {
  import Upkeep._

  /** Maintenance shares it with itself, and waits for upkeep. */
  private val lock = new ReentrantReadWriteLock

  /** What the last load has read, until a commit. */
  private val read = new AtomicReference(Lineage.Empty)

  def loaded(lineage: Lineage): Unit = read.set(lineage)

  def committed(version: Long): Unit = {
    val lineage = read.getAndSet(Lineage.Empty)
    if (settings.hasMany(lineage, Overdue) && hasTurn(version)) runUnlessHeld()
    else if (settings.hasMany(lineage)) {
      // A run that makes several versions passes its turn at one of them.
      if (settings.hasMany(lineage, Overdue)) read.compareAndSet(Lineage.Empty, lineage)
      background.execute(() => runUnlessHeld())
    }
  }

  /** Who holds the lock maintains the store already. */
  private def runUnlessHeld(): Unit = if (lock.writeLock.tryLock()) run()

  /** For maintenance at its turn. */
  def beside[T](maintenance: => T): T = {
    lock.readLock.lock()
    try maintenance
    finally lock.readLock.unlock()
  }

  private def hasTurn(version: Long) = Math.floorMod(version - location.partition, Turns) == 0

  /** The version is committed, whatever fails here. */
  private def run(): Unit =
    try {
      work()
      read.set(Lineage.Empty)
    } catch {
      case NonFatal(e)             => log.warn(s"Cannot maintain $location, retrying later", e)
      case _: InterruptedException => Thread.currentThread.interrupt()
    } finally lock.writeLock.unlock()
}

private object Upkeep {
  private val log = LoggerFactory.getLogger(classOf[Upkeep])

  /** Times what a load may read, at which a task waits. */
  private val Overdue = 2

  /** Versions over which the partitions are spread that do it themselves. */
  private val Turns = 10
}
