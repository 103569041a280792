package io.keyfold.map.version

import scala.annotation.tailrec

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.hash.Epochs

/** The tree of versions and transactions, which decides what memory is unreachable.
  *
  * A node is a version or a transaction. It is live while it is held as a version or pinned by a
  * view or a transaction. Everything in memory has the epoch in which it was made. Epochs only
  * increase, so nothing newer than the epoch of a node's base is shared with the base.
  *
  *   - A dead node without children is pruned: what it has written is taken back and freed.
  *   - A dead node with one child is merged into it.
  *   - What a node's transaction retired, or put other records before, is freed once every live
  *     node descends from the node.
  *
  * Not thread-safe: the map's lock guards it, and only the thread that may write to the arena
  * frees.
  *
  * @param freePages
  *   frees an ordered family's index pages made after an epoch, and their records made after it
  */
private[map] final class VersionTree(
    cold: ColdSpace,
    firstEpoch: Int,
    freePages: (OrderedIndex, PageSpace, RecordSpace, Int) => Unit
) {
  import VersionTree._

  private val arena = cold.arena

  /** Version 0; always present. */
  val root: VersionNode = new VersionNode(null, Array.empty, Epochs.None, first = 0)
  private var lastEpoch = firstEpoch

  /** Number of allocations when the last epoch began. */
  private var allocationsBefore = 0L

  /** Whether so many epochs are used that the rows should be loaded again. */
  def isWorn: Boolean = lastEpoch >= MostEpochs

  /** A node on top of `base`, with the rows that its transaction will change. */
  def grow(base: VersionNode): VersionNode = {
    val hidden = others(root, ancestors(base)).foldLeft(Epochs.None)(_ ++ _.epochs)
    val first = nextEpoch()
    val node = new VersionNode(base, base.families.map(_.copy()), hidden, first)
    base.children ::= node
    node
  }

  private def ancestors(node: VersionNode): List[VersionNode] =
    if (node == null) Nil else node :: ancestors(node.base)

  /** The nodes from one on, but for some. */
  private def others(node: VersionNode, but: List[VersionNode]): List[VersionNode] =
    (if (but.exists(_ eq node)) Nil else List(node)) ++ node.children.flatMap(others(_, but))

  /** The version that all others are built on, if nothing older is left in memory. */
  def oldest: Option[VersionNode] = root.children match {
    case only :: Nil if only.released => Some(only)
    case _                            => None
  }

  /** A node and all that are built on it. */
  def descendants(node: VersionNode): List[VersionNode] = others(node, Nil)

  /** Ends the node's epoch if its transaction has allocated in it.
    *
    * @return
    *   the newest epoch of what the transaction has made so far
    */
  def endEpoch(node: VersionNode): Int = {
    if (arena.allocations != allocationsBefore) node.epoch = nextEpoch()
    node.epoch - 1
  }

  private def nextEpoch(): Int = {
    if (lastEpoch == Int.MaxValue) {
      throw new OutOfOrder("The map cannot have more transactions; load its rows again")
    }
    lastEpoch += 1
    allocationsBefore = arena.allocations
    lastEpoch
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
    val pages = new PageSpace(cold, node)
    val records = new RecordSpace(arena, node)
    node.retired.free(cold, epoch)
    node.families.foreach {
      case rows: OrderedIndex => freePages(rows, pages, records, epoch)
      case _                  => ()
    }
    for (rows <- node.hashedOrDropped) {
      rows.cold.groups.foreach(group => cold.newer(rows.cold(group), epoch).foreach(cold.free))
      leave(rows)
      rows.table.reclaimer.undo(rows.journal, node.epochs)(records.freeNewer(rows.spec, _, epoch))
    }
    node.base.children = node.base.children.filterNot(_ eq node)
  }

  private def merge(node: VersionNode, only: VersionNode): Unit = {
    node.taken = true
    only.base = node.base
    only.retired.addAll(node.retired)
    only.absorbed = node.epochs ++ only.absorbed
    only.dropped ++= node.dropped
    for (rows <- node.hashed) {
      for (next <- only.hashedOrDropped if next.table eq rows.table) {
        // Until it is released, callers may have rows of the version. What follows the oldest is
        // truncated at once.
        if (only.released && ((node.base ne root) || root.children.size > 1)) {
          rows.table.reclaimer.merge(rows.journal, node.epochs, next.journal)(hides(next))
        }
        next.journal.addBefore(rows.journal)
      }
      leave(rows)
    }
    node.base.children = only :: node.base.children.filterNot(_ eq node)
  }

  /** What the first child retired is unreachable once all other nodes descend from it. */
  private def reclaim(): Unit = oldest.foreach { node =>
    node.retired.free(cold, 0)
    for (rows <- node.hashed) {
      rows.table.reclaimer.truncate(rows.journal)(hides(rows))
    }
    for (rows <- node.dropped) {
      rows.cold.groups.foreach(group => cold.list(rows.cold(group)).foreach(cold.free))
      leave(rows)
    }
    node.dropped = Nil
    // Whatever is that old is its own.
    node.absorbed = if (node.first > 1) Epochs(1, node.first - 1) else Epochs.None
  }

  /** Whether a run may have a row, so that its removal must be told. */
  private def hides(rows: HashedIndex)(group: Int, hash: Int) = cold.mayHave(rows.cold(group), hash)

  /** A version has the family no more. */
  private def leave(rows: HashedIndex): Unit = {
    rows.table.users -= 1
    if (rows.table.users == 0) {
      rows.journal.clear()
      val records = new RecordSpace(arena, root)
      rows.table.reclaimer.freeAll(records.freeNewer(rows.spec, _, 0))
    }
  }
}

private object VersionTree {

  /** Half of them, so that the cursors of the open transaction have the others. */
  private val MostEpochs = 1 << 30
}
