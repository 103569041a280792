package io.keyfold.map.version

import scala.annotation.tailrec

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.cold.ColdSpace
import io.keyfold.mem.arena.Arena

/** The tree of versions and transactions, which decides what memory is unreachable.
  *
  * A node is a version or a transaction. It is live while it is held as a version or pinned by a
  * view or a transaction. Everything in memory has the epoch in which it was made. Epochs only
  * increase, so nothing newer than the epoch of a node's base is shared with the base.
  *
  *   - A dead node without children is pruned: everything newer than its base is freed.
  *   - A dead node with one child is merged into it.
  *   - What a node's transaction retired is freed once every live node descends from the node.
  *
  * Not thread-safe: the map's lock guards it, and only the thread that may write to the arena
  * frees.
  *
  * @param freePages
  *   frees a family's index pages and runs made after an epoch, and calls a function for each of
  *   their records made after it
  */
private[map] final class VersionTree(
    arena: Arena,
    cold: ColdSpace,
    firstEpoch: Int,
    freePages: (FamilyIndex, PageSpace, Int, Int => Unit) => Unit
) {
  import VersionTree._

  /** Version 0; always present. */
  val root: VersionNode = new VersionNode(null, Array.empty)
  private var lastEpoch = firstEpoch

  /** Number of allocations when the last epoch began. */
  private var allocationsBefore = 0L

  /** Whether so many epochs are used that the rows should be loaded again. */
  def isWorn: Boolean = lastEpoch >= MostEpochs

  /** A node on top of `base`, with the rows that its transaction will change. */
  def grow(base: VersionNode): VersionNode = {
    val node = new VersionNode(base, base.families.map(_.copy()))
    nextEpoch(node)
    base.children ::= node
    node
  }

  /** Ends the node's epoch if its transaction has allocated in it.
    *
    * @return
    *   the newest epoch of what the transaction has made so far. Once epochs are used up, later
    *   allocations keep that epoch too and count as made before: this costs memory and time, but is
    *   correct.
    */
  def endEpoch(node: VersionNode): Int = {
    if (arena.allocations != allocationsBefore && !isWorn) nextEpoch(node)
    if (arena.allocations != allocationsBefore) node.epoch else node.epoch - 1
  }

  private def nextEpoch(node: VersionNode): Unit = {
    if (lastEpoch == Int.MaxValue) {
      throw new OutOfOrder("The map cannot have more transactions; load its rows again")
    }
    lastEpoch += 1
    node.epoch = lastEpoch
    allocationsBefore = arena.allocations
  }

  /** Frees what became unreachable if `node` has died. */
  @tailrec
  def settle(node: VersionNode): Unit =
    if ((node ne root) && !node.taken && !node.isLive) {
      node.children match {
        case Nil =>
          prune(node)
          settle(node.base)
        case only :: Nil =>
          merge(node, only)
          reclaim()
        case _ => reclaim()
      }
    } else reclaim()

  private def prune(node: VersionNode): Unit = {
    node.taken = true
    val epoch = node.base.epoch
    val pages = new PageSpace(arena, node)
    val records = new RecordSpace(arena, node)
    node.retired.free(arena, cold, epoch)
    node.families.foreach { rows =>
      freePages(rows, pages, epoch, records.freeNewer(rows.spec, _, epoch))
    }
    node.base.children = node.base.children.filterNot(_ eq node)
  }

  private def merge(node: VersionNode, only: VersionNode): Unit = {
    node.taken = true
    only.base = node.base
    only.retired.addAll(node.retired)
    node.base.children = only :: node.base.children.filterNot(_ eq node)
  }

  /** What the first child retired is unreachable once all other nodes descend from it. */
  private def reclaim(): Unit = root.children match {
    case only :: Nil if only.released => only.retired.free(arena, cold, 0)
    case _                            => ()
  }
}

private object VersionTree {

  /** Cursors use at most this many epochs, so that half of them are left for transactions. */
  private val MostEpochs = 1 << 30
}
