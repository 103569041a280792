package io.keyfold.map.arena

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.ordered.{ColdLeafWriter, SharedPages, TreePages}
import io.keyfold.map.version.{OrderedIndex, RecordSpace, VersionNode}
import io.keyfold.mem.arena.Arena

/** Moves rows of ordered families from memory to files, leaf by leaf: of leaves that all versions
  * have. While nobody reads and no transaction is open.
  *
  * @param versions
  *   all of them, the oldest first
  */
private[map] final class LeafEvictor(arena: Arena, cold: ColdSpace, versions: Seq[VersionNode]) {
  import LeafEvictor._

  private val addresses = arena.addresses
  private val oldest = versions.head
  private val records = new RecordSpace(arena, oldest)
  private val rowSizes = new RowSizes(addresses)
  private val shared =
    new SharedPages(addresses, oldest.epoch, versions.tail.map(_.ordered))

  /** All leaves of the oldest version, by the branch above them. */
  def pieces: Seq[Piece] = oldest.ordered.flatMap(rows => piecesBelow(rows, rows.root, 0))

  private def piecesBelow(rows: OrderedIndex, page: Int, counted: Int): Seq[Piece] =
    if (page == 0) Nil
    else {
      val at = addresses.of(page)
      val count = counted + shared.count(page)
      if (TreePages.isBranch(at) && TreePages.isBranch(addresses.of(TreePages.child(at, 0)))) {
        val children = (0 until TreePages.entries(at)).map(TreePages.child(at, _))
        children.flatMap(piecesBelow(rows, _, count))
      } else Seq(new Piece(rows, page, count))
    }

  /** Moves the rows of leaves that all versions have. If that fails, they are where they were.
    *
    * @param epoch
    *   the last in which the leaves may have been written
    * @return
    *   bytes that are free now
    */
  def settle(piece: Piece, epoch: Int): Long = {
    val before = arena.liveBytes
    val spec = piece.rows.spec
    val writer = new ColdLeafWriter(cold, spec.multiValue, baseEpoch = Int.MaxValue)(
      records.freeNewer(spec, _, epoch = 0)
    )
    def move(leaf: Int, counted: => Int)(place: Int => Unit): Unit = {
      val at = addresses.of(leaf)
      val isOld = !TreePages.isCold(at) && TreePages.epoch(at) <= epoch
      if (isOld && shared.isComplete(counted) && rowSizes.mayLeave(spec, at)) {
        writer.add(leaf) { cold =>
          place(cold)
          shared.replace(leaf, cold)
        }
      }
    }
    val at = addresses.of(piece.page)
    if (TreePages.isBranch(at)) {
      for (i <- 0 until TreePages.entries(at)) {
        val leaf = TreePages.child(at, i)
        move(leaf, piece.counted + shared.count(leaf))(TreePages.setChild(at, i, _))
      }
    } else
      move(piece.page, piece.counted) { cold =>
        piece.rows.root = cold
        piece.page = cold
      }
    writer.finish()
    before - arena.liveBytes
  }
}

private[arena] object LeafEvictor {

  /** The leaves of a branch, or a tree that is one leaf.
    *
    * @param counted
    *   see [[SharedPages.isComplete]]
    */
  final class Piece(val rows: OrderedIndex, var page: Int, val counted: Int)
}
