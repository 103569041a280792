package io.keyfold.map.version

import scala.annotation.tailrec

import io.keyfold.errors.OutOfOrder
import io.keyfold.mem.Arena

/** What was built on what, and so which memory nobody can reach any more.
  *
  * A node is a version or a transaction. It is live while it is held as a version or pinned by a
  * view or a transaction. Everything in memory has the epoch in which it was made; epochs go up,
  * and what is above a node's base's is not shared with that.
  *
  *   - A dead node that nothing was built on is pruned: what is newer than its base is freed.
  *   - A dead node that one other was built on is merged with that.
  *   - What a node's transaction has retired is freed once every live node was built on it.
  *
  * Not thread-safe: the map's lock guards it, and only the thread that may write to the arena
  * frees.
  *
  * @param freePages
  *   frees a family's index pages made after an epoch, and calls a function for each record that
  *   they lead to and that was
  */
private[map] final class VersionTree(
    arena: Arena,
    firstEpoch: Int,
    freePages: (FamilyIndex, PageSpace, Int, Int => Unit) => Unit
) {
  import VersionTree._

  /** Version 0; always there. */
  val root: VersionNode = new VersionNode(null, Array.empty)
  private var lastEpoch = firstEpoch

  /** What the arena had allocated when the last epoch began. */
  private var allocationsBefore = 0L

  /** Whether epochs are so far used up that the rows should be loaded anew. */
  def isWorn: Boolean = lastEpoch >= MostEpochs

  /** A node on top of `base`, with the rows that its transaction will change. */
  def grow(base: VersionNode): VersionNode = {
    val node = new VersionNode(base, base.families.map(_.copy()))
    nextEpoch(node)
    base.children ::= node
    node
  }

  /** Ends the node's epoch, if its transaction has made anything in it.
    *
    * @return
    *   the newest epoch of what the transaction has made so far. Once epochs are used up, what it
    *   makes from now on has that epoch too, and counts as made before: this costs memory and time,
    *   but is right.
    */
  def endEpoch(node: VersionNode): Int = {
    if (arena.allocations != allocationsBefore && !isWorn) nextEpoch(node)
    if (arena.allocations != allocationsBefore) node.epoch else node.epoch - 1
  }

  private def nextEpoch(node: VersionNode): Unit = {
    if (lastEpoch == Int.MaxValue) {
      throw new OutOfOrder("The map has had as many transactions as it can; load its rows anew")
    }
    lastEpoch += 1
    node.epoch = lastEpoch
    allocationsBefore = arena.allocations
  }

  /** Frees what has become unreachable, given that `node` may have died. */
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
    node.retired.free(arena, epoch)
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

  /** What the first node was built from is of no more use once all others were built on it. */
  private def reclaim(): Unit = root.children match {
    case only :: Nil if only.released => only.retired.free(arena, 0)
    case _                            => ()
  }
}

private object VersionTree {

  /** Cursors use up so many epochs at most, so that half of them are left for transactions. */
  private val MostEpochs = 1 << 30
}
