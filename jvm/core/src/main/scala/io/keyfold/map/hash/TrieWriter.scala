package io.keyfold.map.hash

import io.keyfold.map.version.{PageHeader, PageSpace}

/** Writes to tries within one transaction. Pages that others may read are copied before they
  * change, together with the path from the root. Methods return the page that replaces the given
  * one.
  */
private[map] final class TrieWriter(pages: PageSpace) extends HashTrie(pages.arena.addresses) {
  import HashTrie._
  import TriePages._

  /** Adds a record whose key is absent. */
  def insert(root: Int, hash: Int, record: Int): Int =
    insert(root, FirstShift, slotOf(hash, record))

  private def insert(page: Int, shift: Int, content: Long): Int =
    if (page == 0) {
      val leaf = newLeaf(SmallestLeaf)
      place(addresses.of(leaf), content)
      leaf
    } else if (isBranch(addresses.of(page))) insertBelow(own(page), shift, content)
    else insertInLeaf(page, shift, content)

  private def insertBelow(branch: Int, shift: Int, content: Long): Int = {
    val i = childOf(hashOf(content), shift)
    val before = child(addresses.of(branch), i)
    val after = insert(before, shift - FanoutBits, content)
    val at = addresses.of(branch)
    if (after != before) link(at, i, after)
    setEntries(at, entries(at) + 1)
    branch
  }

  private def insertInLeaf(page: Int, shift: Int, content: Long): Int = {
    val at = addresses.of(page)
    val count = slots(at)
    if (fits(entries(at) + 1, count)) {
      val leaf = own(page)
      place(addresses.of(leaf), content)
      leaf
    } else if (count < LargestLeaf || shift < LastShift) {
      val larger = resized(page, count * 2)
      place(addresses.of(larger), content)
      larger
    } else insertBelow(split(page, shift), shift, content)
  }

  /** Replaces one record of a key by another. */
  def replace(root: Int, hash: Int, before: Int, after: Int): Int = {
    val leaf = leafOf(root, FirstShift, hash)
    if (pages.isOwn(leaf)) {
      setSlot(leaf, indexOf(leaf, slotOf(hash, before)), slotOf(hash, after))
      root
    } else replace(root, FirstShift, slotOf(hash, before), slotOf(hash, after))
  }

  private def replace(page: Int, shift: Int, before: Long, after: Long): Int = {
    val owned = own(page)
    val at = addresses.of(owned)
    if (isBranch(at)) {
      val i = childOf(hashOf(before), shift)
      val childBefore = child(at, i)
      val childAfter = replace(childBefore, shift - FanoutBits, before, after)
      if (childAfter != childBefore) link(at, i, childAfter)
    } else setSlot(at, indexOf(at, before), after)
    owned
  }

  /** Removes a record that is present. */
  def remove(root: Int, hash: Int, record: Int): Int =
    remove(root, FirstShift, slotOf(hash, record))

  private def remove(page: Int, shift: Int, content: Long): Int = {
    val owned = own(page)
    val at = addresses.of(owned)
    if (entries(at) == 1) {
      retireBelow(owned)
      0
    } else if (isBranch(at)) removeBelow(owned, shift, content)
    else {
      clearSlot(at, indexOf(at, content))
      val count = slots(at)
      if (count > SmallestLeaf && entries(at) * 4 <= count) resized(owned, count / 2)
      else owned
    }
  }

  private def removeBelow(branch: Int, shift: Int, content: Long): Int = {
    val at = addresses.of(branch)
    val i = childOf(hashOf(content), shift)
    val before = child(at, i)
    val after = remove(before, shift - FanoutBits, content)
    if (after != before) link(at, i, after)
    setEntries(at, entries(at) - 1)
    if (entries(at) * 4 <= LargestLeaf) joined(branch) else branch
  }

  /** Frees the pages below `page` made after `epoch`; `freeRecord` frees a record. */
  def freeNewer(page: Int, epoch: Int)(freeRecord: Int => Unit): Unit = if (page != 0) {
    val at = addresses.of(page)
    if (PageHeader.epoch(at) > epoch) {
      val branch = isBranch(at)
      val count = if (branch) Fanout else slots(at)
      var i = 0
      while (i < count) {
        if (branch) freeNewer(child(at, i), epoch)(freeRecord)
        else {
          val record = recordOf(slot(at, i))
          if (record != 0 && records.epoch(record) > epoch) freeRecord(record)
        }
        i += 1
      }
      pages.arena.free(page)
    }
  }

  private def link(branch: Long, i: Int, page: Int): Unit =
    setChild(branch, i, page, if (page == 0) 0 else slots(addresses.of(page)))

  private def newLeaf(slots: Int): Int = newPage(slots, leafLength(slots))

  private def newPage(slots: Int, length: Int): Int = {
    val page = pages.arena.allocate(length)
    initialize(addresses.of(page), pages.epoch, slots, length)
    page
  }

  private def own(page: Int): Int = pages.own(page, length(addresses.of(page)))

  private def resized(page: Int, slots: Int): Int = {
    val leaf = newLeaf(slots)
    val to = addresses.of(leaf)
    eachSlot(page)(place(to, _))
    pages.retire(page)
    leaf
  }

  /** Turns a leaf into a branch. */
  private def split(page: Int, shift: Int): Int = {
    val counts = new Array[Int](Fanout)
    eachSlot(page)(content => counts(childOf(hashOf(content), shift)) += 1)
    val branch = newPage(0, BranchLength)
    val at = addresses.of(branch)
    for (i <- 0 until Fanout if counts(i) > 0) link(at, i, newLeaf(slotsFor(counts(i))))
    eachSlot(page) { content =>
      place(addresses.of(child(at, childOf(hashOf(content), shift))), content)
    }
    setEntries(at, entries(addresses.of(page)))
    pages.retire(page)
    branch
  }

  /** Turns a branch with few entries into a leaf. */
  private def joined(branch: Int): Int = {
    val leaf = newLeaf(slotsFor(entries(addresses.of(branch))))
    val to = addresses.of(leaf)
    eachSlot(branch)(place(to, _))
    retireBelow(branch)
    leaf
  }

  /** Retires a whole trie.
    *
    * @param each
    *   called with each of its records
    */
  def retireAll(root: Int)(each: Int => Unit): Unit = if (root != 0) {
    eachSlot(root)(content => each(recordOf(content)))
    retireBelow(root)
  }

  private def retireBelow(page: Int): Unit = {
    val at = addresses.of(page)
    if (isBranch(at)) {
      for (i <- 0 until Fanout if child(at, i) != 0) retireBelow(child(at, i))
    }
    pages.retire(page)
  }
}
