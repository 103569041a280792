package io.keyfold.map

import io.keyfold.mem.{Arena, Mem}

/** The index pages of a transaction: which it may change, and what becomes of those it replaces.
  *
  * A page of the node's own epoch is the transaction's alone. One of an earlier epoch of the same
  * transaction is kept for cursors that were opened before that epoch.
  */
private[map] final class PageSpace(val arena: Arena, node: VersionNode) {

  /** Cursors that may still go over pages of earlier epochs. */
  var cursors = 0

  def epoch: Int = node.epoch

  /** The page, or a copy of it, to be changed. */
  def own(page: Int, length: Int): Int = {
    val at = arena.addresses.of(page)
    if (PageHeader.epoch(at) == node.epoch) page
    else {
      val copy = arena.allocate(length)
      val to = arena.addresses.of(copy)
      Mem.copy(null, at, null, to, length)
      PageHeader.setEpoch(to, node.epoch)
      retire(page)
      copy
    }
  }

  /** The transaction's rows do not need the page any more. */
  def retire(page: Int): Unit = {
    val epoch = PageHeader.epoch(arena.addresses.of(page))
    if (epoch <= node.base.epoch) node.retired.addPage(page)
    else if (epoch == node.epoch || cursors == 0) arena.free(page)
    else node.unused.add(page)
  }

  def freeUnused(): Unit = if (cursors == 0) {
    for (i <- 0 until node.unused.size) arena.free(node.unused(i))
    node.unused.clear()
  }
}
