package io.keyfold.map.arena

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.ordered.{ColdLeafWriter, TreePages}
import io.keyfold.map.version.{OrderedIndex, PageSpace, RecordSpace, VersionNode}
import io.keyfold.mem.arena.Arena

/** Moves leaves that the open transaction has copied or made from memory to files, with all their
  * rows; those that the transaction has written are marked as changed.
  */
private[map] final class LeafSpiller(arena: Arena, cold: ColdSpace, node: VersionNode) {
  private val addresses = arena.addresses
  private val pages = new PageSpace(cold, node)
  private val records = new RecordSpace(arena, node)
  private val rowSizes = new RowSizes(addresses)

  def spill(rows: OrderedIndex): Unit = if (rows.root != 0) {
    val writer = new ColdLeafWriter(cold, rows.spec.multiValue, node.base.epoch)(
      records.leave(rows, _)
    )
    spillBelow(rows, rows.root, writer)(rows.root = _)
    writer.finish()
  }

  private def spillBelow(rows: OrderedIndex, page: Int, writer: ColdLeafWriter)(
      place: Int => Unit
  ): Unit = {
    val at = addresses.of(page)
    if (pages.isOwn(at)) {
      if (TreePages.isBranch(at)) {
        for (i <- 0 until TreePages.entries(at))
          spillBelow(rows, TreePages.child(at, i), writer)(TreePages.setChild(at, i, _))
      } else if (!TreePages.isCold(at) && rowSizes.mayLeave(rows.spec, at)) writer.add(page)(place)
    }
  }
}
