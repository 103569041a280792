package io.keyfold.map.arena

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.ordered.{ColdLeafWriter, SharedPages, TreePages}
import io.keyfold.map.value.{Records, ValueHead}
import io.keyfold.map.version.{OrderedIndex, RecordSpace, VersionNode}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena
import io.keyfold.model.FamilySpec

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
  private val reader = new Records(addresses)
  private val value = new Slice
  private val shared =
    new SharedPages(addresses, oldest.epoch, versions.tail.map(ordered(_).map(_.root)))

  private def ordered(node: VersionNode) =
    node.families.toSeq.collect { case rows: OrderedIndex => rows }

  /** All leaves of the oldest version, by the branch above them. */
  def pieces: Seq[Piece] = ordered(oldest).flatMap(rows => piecesBelow(rows.spec, rows.root, 0))

  private def piecesBelow(spec: FamilySpec, page: Int, counted: Int): Seq[Piece] =
    if (page == 0) Nil
    else {
      val at = addresses.of(page)
      val count = counted + shared.count(page)
      if (TreePages.isBranch(at) && TreePages.isBranch(addresses.of(TreePages.child(at, 0)))) {
        (0 until TreePages.entries(at)).flatMap(i =>
          piecesBelow(spec, TreePages.child(at, i), count)
        )
      } else Seq(new Piece(spec, page, count))
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
    val writer =
      new ColdLeafWriter(addresses, cold.files, piece.spec.multiValue, baseEpoch = Int.MaxValue)(
        records.freeNewer(piece.spec, _, epoch = 0)
      )
    val at = addresses.of(piece.page)
    if (!TreePages.isBranch(at)) add(writer, piece, piece.page, piece.counted, epoch)
    else {
      for (i <- 0 until TreePages.entries(at)) {
        val leaf = TreePages.child(at, i)
        add(writer, piece, leaf, piece.counted + shared.count(leaf), epoch)
      }
    }
    writer.finish()
    before - arena.liveBytes
  }

  private def add(
      writer: ColdLeafWriter,
      piece: Piece,
      leaf: Int,
      counted: Int,
      epoch: Int
  ): Unit = {
    val at = addresses.of(leaf)
    if (
      !TreePages.isCold(at) && TreePages.epoch(at) <= epoch && shared.isComplete(counted) &&
      (0 until TreePages.entries(at)).forall(i => !isTooLong(piece.spec, TreePages.record(at, i)))
    ) writer.add(leaf)
  }

  private def isTooLong(spec: FamilySpec, record: Int) = {
    reader.value(record, value)
    val bytes = if (spec.multiValue) ValueHead.bytes(value) else value.length.toLong
    bytes > Evictor.MostRowBytes
  }
}

private[arena] object LeafEvictor {

  /** The leaves of a branch, or a tree that is one leaf.
    *
    * @param counted
    *   see [[SharedPages.isComplete]]
    */
  final class Piece(val spec: FamilySpec, val page: Int, val counted: Int)
}
