package io.keyfold.map.ordered

import io.keyfold.map.cold.{ColdFiles, ColdRow}
import io.keyfold.map.value.{IntList, Records, ValueSteps}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** Reads an ordered family: a B+tree over the bytes of keys, for all key groups together. Pages of
  * a version never change, see [[TreeWriter]], but for rows of leaves that leave memory, see
  * [[ColdLeafWriter]].
  */
private[map] class OrderedTree(val addresses: Addresses, files: ColdFiles) {
  import TreePages._

  val records = new Records(addresses)
  protected lazy val cold: ColdLeaf = newLeaf

  /** Address of the cold leaf in which the last look-up has ended; else 0. */
  private var coldAt = 0L

  /** Whether the last look-up has ended in a cold leaf. */
  def isAtCold: Boolean = coldAt != 0

  /** @return the key's record, or 0; then a cold leaf may have the row, see [[findCold]] */
  def find(root: Int, key: Slice): Int = {
    coldAt = 0
    if (root == 0) 0
    else {
      var at = addresses.of(root)
      while (isBranch(at)) at = addresses.of(child(at, childFor(at, key)))
      if (isCold(at)) {
        coldAt = at
        0
      } else {
        val i = lowerBound(at, key)
        if (i < entries(at) && records.compareKey(record(at, i), key) == 0) record(at, i) else 0
      }
    }
  }

  /** The row of the key that the last look-up was for, before its first value, until the next call;
    * null if no cold leaf has it.
    */
  def findCold(key: Slice): ColdRow = if (coldAt == 0) null else cold.find(coldAt, key)

  def contains(root: Int, key: Slice): Boolean = find(root, key) != 0 || findCold(key) != null

  /** Whether a key has a record, or a row in a cold leaf made after `epoch`. */
  def hasNewer(root: Int, key: Slice, epoch: Int): Boolean =
    find(root, key) != 0 || isAtCold && TreePages.epoch(coldAt) > epoch && findCold(key) != null

  def newLeaf: ColdLeaf = new ColdLeaf(files)

  /** The rows that [[collect]] has found, if they are in a cold leaf; else null. */
  var collected: ColdLeaf = _

  /** Adds records in key order, from the first key not below `from` to the end of its leaf, and
    * only keys below `until`; adds nothing if there is none, or if they are in a cold leaf.
    *
    * @param behind
    *   exclude the key `from` itself
    * @param until
    *   null: up to the last
    * @return
    *   whether there may be more
    */
  def collect(root: Int, from: Slice, behind: Boolean, until: Slice, into: IntList): Boolean = {
    collected = null
    root != 0 && collectIn(root, from, behind, until, into) && (into.size > 0 || collected != null)
  }

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
      while (i < count && into.size == 0 && collected == null && more) {
        more = collectIn(child(at, i), from, behind, until, into)
        i += 1
      }
      more
    } else if (isCold(at)) {
      val leaf = newLeaf
      if (leaf.start(at, from, behind, until)) collected = leaf
      if (collected == null) leaf.isAtEnd else !leaf.endsInBlock
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

  /** Calls a function for the records below `page` that were written after `epoch`, the last of the
    * transaction's base, and of which the base has not the row; skips older pages.
    *
    * @param epoch
    *   [[ValueSteps.AnyEpoch]]: for all records
    */
  def eachNewer(page: Int, epoch: Int)(use: Int => Unit): Unit = if (page != 0) {
    val at = addresses.of(page)
    if (TreePages.epoch(at) > epoch && !isCold(at)) {
      val count = entries(at)
      val branch = isBranch(at)
      var i = 0
      while (i < count) {
        if (branch) eachNewer(child(at, i), epoch)(use)
        else if (epoch == ValueSteps.AnyEpoch || !records.isOfBase(record(at, i), epoch))
          use(record(at, i))
        i += 1
      }
    }
  }

  /** Calls a function for each cold leaf below `page` that was made after `epoch`, in key order. */
  def eachCold(page: Int, epoch: Int)(use: Long => Unit): Unit = if (page != 0) {
    val at = addresses.of(page)
    if (TreePages.epoch(at) > epoch) {
      if (isCold(at)) use(at)
      else if (isBranch(at)) {
        var i = 0
        while (i < entries(at)) {
          eachCold(child(at, i), epoch)(use)
          i += 1
        }
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
