package io.keyfold.map.arena

import scala.collection.mutable

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.hash.{HashKey, TrieWriter}
import io.keyfold.map.ordered.TreeWriter
import io.keyfold.map.version.{
  FamilyIndex,
  HashedIndex,
  OrderedIndex,
  PageSpace,
  VersionNode,
  VersionTree
}
import io.keyfold.map.{MapTxn, MapView, StateMap}
import io.keyfold.mem.{Arena, MemoryUse, PagePool}
import io.keyfold.model.VersionId

/** The engine: rows off the heap, in versions that share what did not change.
  *
  *   1. A transaction copies the index pages that it writes to, and makes a new record for each
  *      row; what a version has is never changed. So begin, abort and going back to a version cost
  *      what was changed, and readers need no lock.
  *   1. What two versions differ in is found by walking both indexes where their pages differ; a
  *      put leaves no other trace. So a commit costs what was changed, however often.
  *   1. A record that a transaction wrote and no caller has seen is changed in place or freed at
  *      once; one that has escaped to a caller stays until the transaction is released.
  *   1. The arena has one user at a time: the open transaction, or, without one, whoever holds the
  *      map's lock. A view that is released meanwhile is settled when the transaction ends.
  *   1. When a change breaks off in the middle, as where memory runs out, or its transaction is
  *      given up by another thread meanwhile, the map is closed; files have the versions.
  *   1. Epochs are 31 bits. When half of them are used up, the map holds no version any more, so
  *      that whoever wants one loads it into another map.
  *   1. A long pin keeps all that was retired since, of every version.
  *
  * @param keyGroups
  *   G
  */
final class ArenaMap private[map] (val keyGroups: Int, pool: PagePool, firstEpoch: Int)
    extends StateMap {
  import ArenaMap._

  private[map] val hashKey = HashKey.next()
  private val arena = new Arena(pool)
  private val tree = new VersionTree(arena, firstEpoch, freePages)

  def this(keyGroups: Int, pool: PagePool) = this(keyGroups, pool, firstEpoch = 0)

  // Guarded by this.
  private var versions = Map(VersionId.Empty -> tree.root)
  private val unsettled = mutable.ArrayBuffer.empty[VersionNode]
  private var writer: VersionNode = _
  private var closed = false
  private var pins = 0

  override def holds(version: VersionId): Boolean =
    synchronized(!closed && !tree.isWorn && versions.contains(version))

  override def pin(version: VersionId): MapView = synchronized {
    new ArenaView(this, pinned(held(version)), arena.snapshotAddresses())
  }

  override def begin(base: VersionId): MapTxn = synchronized {
    if (writer != null) {
      throw new OutOfOrder(s"Cannot begin on version $base while another transaction is open")
    }
    val below = pinned(held(base))
    val node = pinned(tree.grow(below))
    val txn = new ArenaTxn(this, arena, below, node)
    writer = node
    txn
  }

  override def retain(newest: VersionId, count: Int): Unit = synchronized {
    val others = versions.keySet.filter(v => v.version <= newest.version) - newest - VersionId.Empty
    val kept = others.toSeq.sortBy(-_.version).take(count - 1).toSet + newest + VersionId.Empty
    versions.keySet.filterNot(kept).foreach(drop)
    settle()
  }

  override def memory: MemoryUse = arena.memory

  /** Frees all memory once the last view and transaction is released. */
  override def close(): Unit = synchronized {
    closed = true
    versions = Map(VersionId.Empty -> tree.root)
    freeIfDone()
  }

  /** Closes the map since a change may have been left half done: versions must be loaded anew.
    * Views stay as they are.
    */
  private[map] def giveUp(): Unit = synchronized {
    close()
    writer = null
  }

  private[map] def committed(node: VersionNode, version: VersionId): Unit = synchronized {
    if (versions.contains(version)) drop(version)
    node.held = true
    versions += version -> node
    ended()
  }

  /** The transaction will not write to the arena any more. */
  private[map] def ended(): Unit = synchronized {
    writer = null
    settle()
  }

  private[map] def unpin(node: VersionNode): Unit = synchronized {
    node.pins -= 1
    pins -= 1
    unsettled += node
    settle()
    freeIfDone()
  }

  /** A transaction is not used any more, whether it has ended or was forgotten. */
  private[map] def released(node: VersionNode, base: VersionNode): Unit = synchronized {
    if (writer eq node) writer = null
    node.release()
    unpin(node)
    unpin(base)
  }

  private[map] def endEpoch(node: VersionNode): Int = tree.endEpoch(node)

  private[map] def readerAddresses() = synchronized(arena.snapshotAddresses())

  /** Objects that are allocated, for tests: none is left when all versions are gone. */
  private[map] def liveObjects: Long = arena.liveObjects

  private def pinned(node: VersionNode): VersionNode = {
    node.pins += 1
    pins += 1
    node
  }

  private def held(version: VersionId): VersionNode =
    if (closed) throw new OutOfOrder(s"Cannot use version $version: the map is closed")
    else versions.getOrElse(version, throw new OutOfOrder(s"Version $version is not in memory"))

  private def drop(version: VersionId): Unit = {
    val node = versions(version)
    versions -= version
    node.held = false
    unsettled += node
  }

  private def settle(): Unit = if (writer == null && !closed) {
    unsettled.foreach(tree.settle)
    unsettled.clear()
  }

  private def freeIfDone(): Unit = if (closed && pins == 0) arena.close()
}

private object ArenaMap {
  private def freePages(
      rows: FamilyIndex,
      pages: PageSpace,
      epoch: Int,
      freeRecord: Int => Unit
  ): Unit = rows match {
    case hashed: HashedIndex =>
      val tries = new TrieWriter(pages)
      hashed.roots.groups.foreach { group =>
        tries.freeNewer(hashed.roots(group), epoch)(freeRecord)
      }
    case ordered: OrderedIndex =>
      new TreeWriter(pages).freeNewer(ordered.root, epoch)(freeRecord)
  }
}
