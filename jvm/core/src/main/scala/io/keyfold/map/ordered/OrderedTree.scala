package io.keyfold.map.ordered

import io.keyfold.map.value.{IntList, Records}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** Reads an ordered family: a B+tree over the bytes of keys, for all key groups together. Pages of
  * a version never change, see [[TreeWriter]].
  */
private[map] class OrderedTree(val addresses: Addresses) {
  import TreePages._

  val records = new Records(addresses)

  /** @return the key's record, or 0 */
  def find(root: Int, key: Slice): Int =
    if (root == 0) 0
    else {
      var at = addresses.of(root)
      while (isBranch(at)) at = addresses.of(child(at, childFor(at, key)))
      val i = lowerBound(at, key)
      if (i < entries(at) && records.compareKey(record(at, i), key) == 0) record(at, i) else 0
    }

  /** Adds records in key order, from the first key not below `from` to the end of its leaf, and
    * only keys below `until`; adds nothing if there is none.
    *
    * @param behind
    *   exclude the key `from` itself
    * @param until
    *   null: up to the last
    * @return
    *   whether there may be more
    */
  def collect(root: Int, from: Slice, behind: Boolean, until: Slice, into: IntList): Boolean =
    root != 0 && collectIn(root, from, behind, until, into) && into.size > 0

  private def collectIn(
      page: Int,
      from: Slice,
      behind: Boolean,
      until: Slice,
      into: IntList
  ): Boolean = {
    val at = addresses.of(page)
    val count = entries(at)
    if (isBranch(at)) {
      var i = childFor(at, from)
      var more = true
      while (i < count && into.size == 0 && more) {
        more = collectIn(child(at, i), from, behind, until, into)
        i += 1
      }
      more
    } else {
      var i = lowerBound(at, from)
      if (behind && i < count && records.compareKey(record(at, i), from) == 0) i += 1
      val end = if (until == null) count else lowerBound(at, until)
      while (i < end) {
        into.add(record(at, i))
        i += 1
      }
      end == count
    }
  }

  /** Calls a function for the records below `page` that were written after `epoch`; skips older
    * pages.
    */
  def eachNewer(page: Int, epoch: Int)(use: Int => Unit): Unit = if (page != 0) {
    val at = addresses.of(page)
    if (TreePages.epoch(at) > epoch) {
      val count = entries(at)
      val branch = isBranch(at)
      var i = 0
      while (i < count) {
        if (branch) eachNewer(child(at, i), epoch)(use)
        else if (records.epoch(record(at, i)) > epoch) use(record(at, i))
        i += 1
      }
    }
  }

  /** Index of the first entry of a leaf that is not below `key`. */
  protected def lowerBound(leaf: Long, key: Slice): Int = {
    var low = 0
    var high = entries(leaf)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (records.compareKey(record(leaf, middle), key) < 0) low = middle + 1 else high = middle
    }
    low
  }

  /** Index of the branch entry whose page a key belongs to. */
  protected def childFor(branch: Long, key: Slice): Int = {
    var low = 0
    var high = entries(branch) - 1
    while (low < high) {
      val middle = (low + high + 1) >>> 1
      if (compareSeparator(addresses.of(separator(branch, middle)), key) <= 0) low = middle
      else high = middle - 1
    }
    low
  }
}
