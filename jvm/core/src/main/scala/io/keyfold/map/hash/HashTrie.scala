package io.keyfold.map.hash

import io.keyfold.map.value.{IntList, Records}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** Reads the rows of one key group: a trie over 32 bits of a hash of the key, whose leaves are
  * small open-addressing tables.
  *
  *   - The upper bits choose the path, 4 per level, the lower bits the slot in a leaf. A slot has
  *     all 32 bits, so a look-up reads only the matching record, and a leaf is split or doubled
  *     without reading records.
  *   - No operation touches more than one leaf and the path to it: there is no full rehash.
  *   - Pages of a version never change, see [[TrieWriter]], so readers need no lock.
  *
  * Limit: keys whose hashes agree in the 24 upper bits share a leaf, which then grows beyond its
  * usual size. Such keys are rare, and nobody can choose them, see [[HashKey]].
  */
private[map] class HashTrie(val addresses: Addresses) {
  import HashTrie._
  import TriePages._

  val records = new Records(addresses)

  /** @return the key's record, or 0 */
  def find(root: Int, hash: Int, key: Slice): Int = {
    var at = addressOf(root)
    var shift = FirstShift
    var count = if (root == 0) 0 else slots(at)
    while (at != 0L && count == 0) {
      val i = childOf(hash, shift)
      count = childSlots(at, i)
      at = addressOf(child(at, i))
      shift -= FanoutBits
    }
    if (at == 0L) 0 else findIn(at, count - 1, hash, key)
  }

  private def findIn(leaf: Long, mask: Int, hash: Int, key: Slice): Int = {
    var i = hash & mask
    var content = slot(leaf, i)
    while (content != 0L && !(hashOf(content) == hash && records.hasKey(recordOf(content), key))) {
      i = (i + 1) & mask
      content = slot(leaf, i)
    }
    recordOf(content)
  }

  /** Address of the leaf for a hash, or 0. */
  protected def leafOf(page: Int, pageShift: Int, hash: Int): Long = {
    var at = addressOf(page)
    var shift = pageShift
    while (at != 0L && isBranch(at)) {
      at = addressOf(child(at, childOf(hash, shift)))
      shift -= FanoutBits
    }
    at
  }

  private def addressOf(page: Int): Long = if (page == 0) 0L else addresses.of(page)

  /** Adds the records with hashes of at least `from` in the leaf of `from`, or in the next leaf, in
    * no particular order.
    *
    * @param from
    *   0 to 2^32^
    * @return
    *   the hash to continue from; [[HashTrie.End]] at the end
    */
  def collect(root: Int, from: Long, into: IntList): Long = {
    var at = addressOf(root)
    var shift = FirstShift
    var start = 0L
    while (at != 0L && isBranch(at)) {
      var i = if (from > start) ((from - start) >>> shift).toInt else 0
      while (i < Fanout && child(at, i) == 0) i += 1
      // If no leaf is left in this branch, the caller continues after it.
      if (i < Fanout) {
        at = addresses.of(child(at, i))
        start += i.toLong << shift
        shift -= FanoutBits
      } else at = 0L
    }
    if (at != 0L) collectLeaf(at, from, into)
    start + (Fanout.toLong << shift)
  }

  private def collectLeaf(leaf: Long, from: Long, into: IntList): Unit = {
    val count = slots(leaf)
    var i = 0
    while (i < count) {
      val content = slot(leaf, i)
      if (content != 0L && (content >>> 32) >= from) into.add(recordOf(content))
      i += 1
    }
  }

  /** Removes records of removed rows from a list. */
  def dropRemoved(list: IntList): Unit = {
    var kept = 0
    var i = 0
    while (i < list.size) {
      if (!records.isRemoved(list(i))) {
        list(kept) = list(i)
        kept += 1
      }
      i += 1
    }
    list.cutTo(kept)
  }

  /** Collects the records that only `after` has, and the records of `before` whose key is gone;
    * skips shared pages.
    *
    * @param removed
    *   null if no key can be gone
    */
  def diff(before: Int, after: Int, put: IntList, removed: IntList): Unit =
    diff(before, after, FirstShift, put, removed)

  private def diff(before: Int, after: Int, shift: Int, put: IntList, removed: IntList): Unit =
    if (before != after) {
      val b = addressOf(before)
      val a = addressOf(after)
      if (b != 0L && a != 0L && isBranch(b) && isBranch(a)) {
        touchChanged(b, a)
        var i = 0
        while (i < Fanout) {
          diff(child(b, i), child(a, i), shift - FanoutBits, put, removed)
          i += 1
        }
      } else if (b != 0L && a != 0L && slots(b) == slots(a)) {
        // Mostly a copy with few changes: equal slots need no look-up.
        val count = slots(a)
        var i = 0
        while (i < count) {
          val content = slot(a, i)
          val gone = slot(b, i)
          if (content != gone) {
            if (content != 0L && indexOf(b, content) < 0) put.add(recordOf(content))
            if (removed != null && gone != 0L && isGone(a, gone)) removed.add(recordOf(gone))
          }
          i += 1
        }
      } else {
        eachSlot(after) { content =>
          if (!holds(before, shift, content)) put.add(recordOf(content))
        }
        if (removed != null) {
          eachSlot(before) { content =>
            val leaf = leafOf(after, shift, hashOf(content))
            if (leaf == 0L || isGone(leaf, content)) removed.add(recordOf(content))
          }
        }
      }
    }

  /** Prefetches like [[Records.touch]]. */
  private def touchChanged(b: Long, a: Long): Unit = {
    var sum = 0
    var i = 0
    while (i < Fanout) {
      val before = child(b, i)
      val after = child(a, i)
      if (before != after) {
        if (before != 0) sum += slots(addresses.of(before))
        if (after != 0) sum += slots(addresses.of(after))
      }
      i += 1
    }
    records.touched = sum
  }

  private def holds(page: Int, shift: Int, content: Long): Boolean = {
    val leaf = leafOf(page, shift, hashOf(content))
    leaf != 0L && indexOf(leaf, content) >= 0
  }

  /** Whether a leaf has no record of the same key; reads records only if the hashes are equal and
    * the records differ.
    */
  private def isGone(leaf: Long, content: Long): Boolean = {
    val hash = hashOf(content)
    val mask = slots(leaf) - 1
    var i = hash & mask
    var other = slot(leaf, i)
    while (
      other != 0L && other != content &&
      !(hashOf(other) == hash && records.sameKey(recordOf(other), recordOf(content)))
    ) {
      i = (i + 1) & mask
      other = slot(leaf, i)
    }
    other == 0L
  }

  /** Calls `use` for all slots below a page, in no particular order. */
  def eachSlot(page: Int)(use: Long => Unit): Unit = if (page != 0) {
    val at = addresses.of(page)
    val branch = isBranch(at)
    val count = if (branch) Fanout else slots(at)
    var i = 0
    while (i < count) {
      if (branch) eachSlot(child(at, i))(use)
      else if (slot(at, i) != 0L) use(slot(at, i))
      i += 1
    }
  }
}

private[map] object HashTrie {

  /** One past the last hash. */
  val End: Long = 1L << 32

  /** The upper bits of a hash choose the path to depth 6; 8 bits are left for a leaf. */
  val FirstShift = 28
  val LastShift = 8

  def childOf(hash: Int, shift: Int): Int = (hash >>> shift) & (TriePages.Fanout - 1)
}
