package io.keyfold.map.arena

import java.lang.ref.WeakReference
import java.nio.channels.ClosedByInterruptException

import scala.collection.mutable
import scala.util.control.NonFatal

import io.keyfold.errors.{OutOfMemory, OutOfOrder}
import io.keyfold.io.OnFailure
import io.keyfold.map.cold.{ColdFiles, ColdSpace, FoundRows}
import io.keyfold.map.hash.{HashKey, HashTable, IndexLock}
import io.keyfold.map.ordered.TreeWriter
import io.keyfold.map.version.{OrderedIndex, PageSpace, RecordSpace, VersionNode, VersionTree}
import io.keyfold.map.{LazyRows, LocalBytes, MapTxn, MapView, StateMap}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.{Arena, MemoryUse}
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}

/** The off-heap engine: rows in versions that share unchanged records and pages.
  *
  *   1. A transaction makes a new record for each row; records of a version never change. Versions
  *      share one hash table for the key groups of a family, in which the new record leads to the
  *      one before. Of an ordered family a transaction copies the pages that it writes to. So the
  *      cost of begin, abort and returning to a version depends only on the changes.
  *   1. What a transaction has changed is told by its journal, or the pages that it copied. So a
  *      commit costs as much as the net changes, however often a row was written.
  *   1. A record that a transaction wrote and no caller has seen is changed in place or freed at
  *      once; a record that has escaped to a caller stays until the transaction is released.
  *   1. The arena has one user at a time: the open transaction, or, without one, the holder of the
  *      map's lock. A view released during a transaction is settled when the transaction ends.
  *   1. When a change fails halfway, for example when memory runs out, or another thread aborts its
  *      transaction meanwhile, the map is closed; versions are loaded from files again.
  *   1. Epochs are 31 bits. When half of them are used up, the map no longer holds any version, so
  *      versions are loaded into another map.
  *   1. A long-lived pin keeps everything retired since, in every version.
  *
  * @param keyGroups
  *   G
  */
final class ArenaMap private[map] (
    val keyGroups: Int,
    pool: PagePool,
    firstEpoch: Int,
    newRoom: (Arena, ColdSpace, Int, PagePool) => RoomMaker
) extends StateMap {
  import ArenaMap._

  private[map] val hashKey = HashKey.next()
  private val arena = new Arena(pool)
  private[map] val coldFiles = pool.spill.map(new ColdFiles(_)).orNull
  private val cold = new ColdSpace(arena, coldFiles)
  private val tree = new VersionTree(cold, firstEpoch, freePages)
  private val indexLock = new IndexLock
  private val room = newRoom(arena, cold, keyGroups, pool)

  private[map] def this(keyGroups: Int, pool: PagePool, firstEpoch: Int) =
    this(keyGroups, pool, firstEpoch, new RoomMaker(_, _, _, _))

  def this(keyGroups: Int, pool: PagePool) = this(keyGroups, pool, firstEpoch = 0)

  // Guarded by this.
  private var versions = Map(VersionId.Empty -> tree.root)
  private val unsettled = mutable.ArrayBuffer.empty[VersionNode]
  private var writer: VersionNode = _
  private var closed = false
  private var familyNumbers = 0

  /** The open transaction; collected if its caller has forgotten it. */
  private var writing = new WeakReference[ArenaTxn](null)

  /** Puts lazy rows of the version that was loaded; null if it had none. */
  @volatile private var lazyLoad: LazyLoad = _

  /** Whether a change may be half done. */
  private var isGivenUp = false

  /** What the open transaction's task has found in runs of its base; null if none is open. */
  private var found: FoundRows = _
  private var foundIn: VersionNode = _

  private var pins = 0

  /** Whether readers were in the way when memory was short. */
  private var isOwed = false

  override def holds(version: VersionId): Boolean =
    synchronized(!closed && !isBroken && !tree.isWorn && versions.contains(version))

  private def isBroken =
    coldFiles != null && coldFiles.isBroken || lazyLoad != null && lazyLoad.isBroken

  override def pin(version: VersionId): MapView = synchronized {
    if (holds(version)) makeRoom()
    new ArenaView(this, pinned(held(version)), arena.snapshotAddresses(), Thread.currentThread)
  }

  override def begin(base: VersionId): MapTxn = begin(base, Thread.currentThread)

  /** Begins a transaction on version 0 that is the same for all threads. */
  private[map] def beginShared(): MapTxn = begin(VersionId.Empty, first = null)

  private def begin(base: VersionId, first: Thread): MapTxn = synchronized {
    if (writer != null) {
      throw new OutOfOrder(s"Cannot begin on version $base while another transaction is open")
    }
    makeRoom()
    val below = pinned(held(base))
    val node = pinned(tree.grow(below))
    foundIn = below
    found = new FoundRows
    room.began(node.first)
    val txn = new ArenaTxn(this, arena, cold, room, found, below, node, first)
    writer = node
    writing = new WeakReference(txn)
    txn
  }

  /** Moves rows out of memory if it is short, and nobody reads them. */
  private def makeRoom(): Unit = if (coldFiles != null && !closed && writer == null) {
    val isShort = room.isShort
    isOwed = isShort && pins > 0
    if (isShort && pins == 0) for (oldest <- tree.oldest) {
      try room.settle(oldest, tree.descendants(oldest))
      catch {
        // What was moved before is moved; there is only less room.
        case _: OutOfMemory                => ()
        case _: ClosedByInterruptException => room.interrupted()
        case e: Throwable                  =>
          giveUp()
          throw e
      }
    }
  }

  override def retain(keep: VersionId => Boolean): Unit = synchronized {
    (versions.keySet - VersionId.Empty).filterNot(keep).foreach(drop)
    settle()
  }

  override def memory: MemoryUse = {
    val use = arena.memory
    if (coldFiles == null) use
    else use.copy(mapped = use.mapped + coldFiles.allBytes + bytesInBlocks)
  }

  /** Bytes of the copied blocks, if rows stay there because memory is short. */
  private def bytesInBlocks =
    if (copied == null || coldFiles.lazyRuns == null || coldFiles.lazyRuns.isEmpty) 0
    else copied.bytes

  /** The blocks that the load has copied, if it has. */
  @volatile private var copied: ColdFiles = _

  override def newLocalBytes(): Option[LocalBytes] = {
    for (spill <- pool.spill) copied = new ColdFiles(spill, leastFileBytes = Long.MaxValue)
    Option(copied)
  }

  /** Rows of the open transaction, which loads a version, are to come. */
  private[map] def putLater(rows: LazyRows): Unit =
    lazyLoad =
      new LazyLoad(rows, arena, cold, room, tree, writer, keyGroups, hashKey, () => newFiles())

  /** Grows when lazy groups are put: a view that was made before does not know their pages. -1: the
    * version that was loaded had none.
    */
  private[map] def loadedGroups: Int = {
    val load = lazyLoad
    if (load == null) -1 else load.count
  }

  /** Puts a lazy group of a family, for a view that is not the open transaction.
    *
    * @return
    *   whether it is in the map now; not if another thread may be writing to it
    */
  private[map] def loadGroup(table: HashTable, group: Int): Boolean = {
    val (isAlone, txn) = synchronized {
      // An interrupted thread might fail half way, and end the map.
      val isAlone = writer == null && !isGivenUp && !Thread.currentThread.isInterrupted
      if (isAlone) OnFailure(giveUp())(fill(table, group))
      (isAlone, writing.get)
    }
    isAlone || txn != null && txn.loadGroupFor(table, group)
  }

  /** Puts a lazy group, for who may write to the arena. */
  private[map] def fill(table: HashTable, group: Int): Unit = lazyLoad.put(table, group)

  /** For a view that does not wait for another thread's transaction. */
  private[map] def newPrivateGroups(families: Seq[FamilySpec]) =
    new PrivateGroups(families, lazyLoad, keyGroups, pool)

  /** Frees all memory once the last view and transaction is released. */
  override def close(): Unit = synchronized {
    closed = true
    versions = Map(VersionId.Empty -> tree.root)
    freeIfDone()
  }

  /** Closes the map because a change may be half done: versions must be loaded again. Existing
    * views stay readable.
    */
  private[map] def giveUp(): Unit = synchronized {
    shut()
    noWriter()
  }

  private def shut(): Unit = {
    isGivenUp = true
    close()
  }

  private def noWriter(): Unit = {
    writer = null
    found = null
    foundIn = null
  }

  private[map] def committed(node: VersionNode, version: VersionId): Unit = synchronized {
    if (versions.contains(version)) drop(version)
    node.held = true
    versions += version -> node
    ended()
  }

  /** The transaction writes no more to the arena. */
  private[map] def ended(): Unit = synchronized {
    if (writer != null) {
      closeTables(writer)
      room.ended(isLoad = foundIn eq tree.root)
    }
    noWriter()
    settle()
  }

  private def closeTables(node: VersionNode): Unit = node.hashedOrDropped.foreach(_.table.close())

  private[map] def unpin(node: VersionNode): Unit = synchronized {
    node.pins -= 1
    pins -= 1
    unsettled += node
    try {
      settle()
      // An interrupted read would close the files for all. If it fails, the map is closed, and the
      // next task loads its version.
      if (isOwed && pins == 0 && !Thread.currentThread.isInterrupted) {
        try makeRoom()
        catch { case NonFatal(_) => () }
      }
    } finally freeIfDone()
  }

  /** A transaction is no longer used: it was released or garbage-collected. */
  private[map] def released(node: VersionNode, base: VersionNode): Unit = synchronized {
    if (writer eq node) {
      closeTables(node)
      noWriter()
    }
    node.release()
    try unpin(node)
    finally unpin(base)
  }

  /** Notes what was found in a run, for the open transaction. */
  private[map] def noteFound(
      in: VersionNode,
      family: Int,
      key: Slice,
      valueBytes: Int
  ): Unit = {
    val notes = found
    if (notes != null && notes.isMine && ((in eq foundIn) || (in eq writer))) {
      notes.add(family, hashKey.longHash(key), valueBytes)
    }
  }

  /** For a new family of the open transaction. */
  private[map] def newTable(): HashTable = {
    familyNumbers += 1
    new HashTable(familyNumbers, arena, keyGroups, hashKey, indexLock)
  }

  /** Files beside those of the map's runs and leaves, closed by the caller. */
  private[map] def newFiles(): ColdFiles = new ColdFiles(pool.spill.get)

  private[map] def endEpoch(node: VersionNode): Int = tree.endEpoch(node)

  private[map] def readerAddresses() = synchronized(arena.snapshotAddresses())

  /** Number of allocated objects, for tests: 0 when all versions are released. */
  private[map] def liveObjects: Long = arena.liveObjects

  private def pinned(node: VersionNode): VersionNode = {
    node.pins += 1
    pins += 1
    node
  }

  private def held(version: VersionId): VersionNode =
    if (closed) throw new OutOfOrder(s"Cannot use version $version: the map is closed")
    else if (isBroken)
      throw new OutOfOrder(s"Cannot use version $version: rows of it on the local disk are lost")
    else versions.getOrElse(version, throw new OutOfOrder(s"Version $version is not in memory"))

  private def drop(version: VersionId): Unit = {
    val node = versions(version)
    versions -= version
    node.held = false
    unsettled += node
  }

  private def settle(): Unit = if (writer == null && !closed) {
    // Something may be freed and still be listed.
    try OnFailure(shut())(unsettled.foreach(tree.settle))
    finally unsettled.clear()
    if (lazyLoad != null) lazyLoad.forgetDropped()
  }

  private def freeIfDone(): Unit = if (closed && pins == 0) {
    arena.close()
    if (coldFiles != null) coldFiles.close()
    if (lazyLoad != null) lazyLoad.close()
  }
}

private object ArenaMap {
  private def freePages(
      rows: OrderedIndex,
      pages: PageSpace,
      records: RecordSpace,
      epoch: Int
  ): Unit =
    new TreeWriter(pages, records).freeNewer(rows.root, epoch)(
      records.freeNewer(rows.spec, _, epoch)
    )
}
