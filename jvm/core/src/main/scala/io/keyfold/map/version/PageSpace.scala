package io.keyfold.map.version

import io.keyfold.map.cold.ColdSpace
import io.keyfold.mem.Mem

/** The index pages of a transaction: which it may change, and when replaced ones are freed.
  *
  * A page made after the newest open cursor belongs to the transaction alone, and so does the path
  * to it, which was copied when the page was made.
  */
private[map] final class PageSpace(val cold: ColdSpace, node: VersionNode) {
  private val arena = cold.arena

  def epoch: Int = node.epoch

  /** Whether the page at this address may be changed in place. */
  def isOwn(at: Long): Boolean = PageHeader.epoch(at) > node.cursors.frozen

  /** Whether the base has the page at this address. */
  def isOfBase(at: Long): Boolean = PageHeader.epoch(at) <= node.base.epoch

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
    val at = arena.addresses.of(page)
    if (isOfBase(at)) node.retired.addPage(page)
    else node.cursors.release(page, PageHeader.epoch(at), cold)
  }
}

private[map] object PageSpace {

  /** Frees a page or separator, with what it has in a file. */
  def free(page: Int, cold: ColdSpace): Unit = {
    val at = cold.arena.addresses.of(page)
    if (PageHeader.isCold(at)) cold.files.remove(PageHeader.file(at))
    cold.arena.free(page)
  }
}
