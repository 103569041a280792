package io.keyfold.map.version

import io.keyfold.mem.{Arena, Mem}

/** The index pages of a transaction: which it may change, and what becomes of those it replaces.
  *
  * A page that was made since the newest open cursor was is the transaction's alone, and so is what
  * leads to it: its way down was copied, if it had to be, when it was made.
  */
private[map] final class PageSpace(val arena: Arena, node: VersionNode) {

  def epoch: Int = node.epoch

  /** Whether the page at this address may be changed where it is. */
  def isOwn(at: Long): Boolean = PageHeader.epoch(at) > node.cursors.frozen

  /** The page, or a copy of it, to be changed. */
  def own(page: Int, length: Int): Int = {
    val at = arena.addresses.of(page)
    if (isOwn(at)) page
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
    else node.cursors.release(page, epoch, arena)
  }
}
