package io.keyfold.map.version

import io.keyfold.mem.Mem
import io.keyfold.mem.arena.Arena

/** The index pages of a transaction: which it may change, and when replaced ones are freed.
  *
  * A page made after the newest open cursor belongs to the transaction alone, and so does the path
  * to it, which was copied when the page was made.
  */
private[map] final class PageSpace(val arena: Arena, node: VersionNode) {

  def epoch: Int = node.epoch

  /** Whether the page at this address may be changed in place. */
  def isOwn(at: Long): Boolean = PageHeader.epoch(at) > node.cursors.frozen

  /** The page itself or a copy, to be changed. */
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

  /** The transaction's rows no longer need the page. */
  def retire(page: Int): Unit = {
    val epoch = PageHeader.epoch(arena.addresses.of(page))
    if (epoch <= node.base.epoch) node.retired.addPage(page)
    else node.cursors.release(page, epoch, arena)
  }
}
