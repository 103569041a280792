package io.keyfold.map.hash

import io.keyfold.map.value.{IntList, Records}
import io.keyfold.mem.{Addresses, Slice}

/** Reading the rows of one key group: a trie over 32 bits of a hash of the key, whose leaves are
  * small open-addressing tables.
  *
  *   - Upper bits choose the way down, 4 a level, lower ones the slot in a leaf. A slot has all 32,
  *     so that nothing is read of a record but of the one that is wanted, and a leaf is split or
  *     doubled without a look at records.
  *   - No operation touches more than one leaf and the way to it: there is no rehash of the whole.
  *   - A page that a version has is never changed, see [[TrieWriter]]; so readers need no lock.
  *
  * Limit: keys whose hashes agree in the 24 upper bits share a leaf, which grows then beyond its
  * usual size. They are few by chance, and nobody can choose them, see [[HashKey]].
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

  /** Address of the leaf where a hash belongs, or 0. */
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

  /** Adds the records of the leaf where hash `from` belongs, or of the next one, whose hashes are
    * not below `from`, in no order.
    *
    * @param from
    *   0 to 2^32^
    * @return
    *   the hash to go on from; [[HashTrie.End]] at the end
    */
  def collect(root: Int, from: Long, into: IntList): Long = {
    var at = addressOf(root)
    var shift = FirstShift
    var start = 0L
    while (at != 0L && isBranch(at)) {
      var i = if (from > start) ((from - start) >>> shift).toInt else 0
      while (i < Fanout && child(at, i) == 0) i += 1
      // With no leaf left in this branch, the caller goes on behind it.
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

  /** The records that `after` has and `before` has not, and those of `before` whose key is gone;
    * looks at no page that both have.
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
        // Mostly a copy with few changes: slots that are the same need no look-up.
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

  /** As [[Records.touch]]. */
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

  /** Whether a leaf has no record of the same key; reads records only if hashes are the same and
    * the record is another.
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

  /** All entries below a page, in no order. */
  protected def eachSlot(page: Int)(use: Long => Unit): Unit = if (page != 0) {
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

  /** Behind the last hash. */
  val End: Long = 1L << 32

  /** The upper bits of a hash choose the way down to depth 6; 8 bits are left for a leaf. */
  val FirstShift = 28
  val LastShift = 8

  def childOf(hash: Int, shift: Int): Int = (hash >>> shift) & (TriePages.Fanout - 1)
}
