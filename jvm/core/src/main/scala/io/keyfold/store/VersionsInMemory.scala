package io.keyfold.store

import java.util.concurrent.TimeUnit

import io.keyfold.mem.arena.MemoryUse
import io.keyfold.model.VersionId
import io.keyfold.store.file.Lineage
import io.keyfold.store.load.LoadedVersions

/** The versions of one store that are in memory: in one map, or in several if transactions run
  * beside each other.
  *
  * This object is the lock for all that it holds. It is never held during callbacks or access to
  * the checkpoint; rows that leave memory are written to local files meanwhile.
  *
  * @param writerWaitMs
  *   how long to wait at least for another thread's transaction
  */
private[store] final class VersionsInMemory(writerWaitMs: Long) {
  import VersionsInMemory.MostWriterWaitMs

  /** The map that was used last is the first. */
  private var maps = List.empty[LoadedVersions]
  private var confirmed: Option[VersionId] = None
  private var closed = false

  /** Calls a function, under the lock, with a map that has the version.
    *
    * @return
    *   None if no fit map has it
    */
  def withLoaded[T](version: VersionId, isFit: LoadedVersions => Boolean)(
      use: LoadedVersions => T
  ): Option[T] = synchronized(maps.find(in => in.holds(version) && isFit(in)).map(use))

  /** The same with a map that is not one of these yet. */
  def withNew[T](in: LoadedVersions)(use: LoadedVersions => T): T = synchronized {
    try use(in)
    finally
      if (closed) {
        in.map.close()
        forget()
      }
  }

  /** A version is known to be committed, and this is the map to go on with. Kept beside it are the
    * other maps that have this version too: they are written to, or were beside another transaction
    * on it. One that was beside a transaction on an earlier version is not kept for rows that have
    * not changed since.
    */
  def confirm(in: LoadedVersions, version: VersionId): Unit = synchronized {
    def isOfUse(other: LoadedVersions) =
      other.holds(version.written) && (other.isWritten || other.begun >= version.version)
    drop(other => (other ne in) && !isOfUse(other))
    maps = in :: maps.filter(_ ne in)
    confirmed = Some(version)
  }

  /** The same for a version that is only read: one that is older than those in memory does not take
    * their place.
    */
  def confirmUnlessOld(in: LoadedVersions, version: VersionId): Unit = synchronized {
    val isOld = maps.flatMap(_.newest).exists(_.version > version.written.version)
    if (!isOld) confirm(in, version)
    else if (!maps.contains(in)) in.map.close()
  }

  def newestConfirmed: Option[(VersionId, LoadedVersions, Lineage)] = synchronized {
    for {
      version <- confirmed
      in <- maps.find(_.holds(version.written))
      lineage <- in.lineage(version.written)
    } yield (version, in, lineage)
  }

  /** Waits for a map that has the version, if other threads write to all of them. */
  def awaitWriter(version: VersionId, lastLoadMs: Long): Unit = synchronized {
    val most = math.max(writerWaitMs, math.min(lastLoadMs, MostWriterWaitMs))
    val end = System.nanoTime + TimeUnit.MILLISECONDS.toNanos(most)
    var left = most
    while (mayAwait(version) && left > 0) {
      wait(left)
      left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime)
    }
  }

  private def mayAwait(version: VersionId) = {
    val having = maps.filter(_.holds(version))
    version != VersionId.Empty && having.nonEmpty && having.forall(_.isWritten) &&
    !maps.exists(_.writer eq Thread.currentThread)
  }

  /** Nobody writes to a map any more. */
  def written(in: LoadedVersions): Unit = synchronized {
    in.writer = null
    notifyAll()
  }

  def use: MemoryUse = synchronized(maps).map(_.map.memory).foldLeft(MemoryUse.None)(_ + _)

  /** Drops all versions, as when a row is damaged: the next task loads from files. */
  def forget(): Unit = synchronized(drop(_ => true))

  /** The same if there is another map beside this one. */
  def forgetIfBeside(in: LoadedVersions): Unit = synchronized(if (maps.exists(_ ne in)) forget())

  /** Keeps no version from now on. */
  def close(): Unit = synchronized {
    closed = true
    forget()
  }

  private def drop(which: LoadedVersions => Boolean): Unit = {
    val (dropped, kept) = maps.partition(which)
    dropped.foreach(_.map.close())
    maps = kept
  }
}

private object VersionsInMemory {

  /** A load that takes longer is better than no end. */
  private val MostWriterWaitMs = 60000L
}
