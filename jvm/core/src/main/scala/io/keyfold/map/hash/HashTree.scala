package io.keyfold.map.hash

import java.nio.channels.ClosedByInterruptException

import io.keyfold.errors.OutOfMemory
import io.keyfold.io.OnFailure
import io.keyfold.map.value.{IntList, Records}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Arena

/** The entries of a key group by 32 bits of a hash of the key: one open-addressing table, or, if
  * the group is large, a tree of them. Methods that change it take a reference to its root and
  * return the one that replaces it; if they fail, it is as it was.
  *
  *   - The upper bits choose the path, 4 per level, the lower bits the slot in a leaf. A slot has
  *     all 32 bits, so a look-up reads only the matching record, and a leaf is split or doubled
  *     without reading records.
  *   - No operation touches more than one leaf: a group that grows never stops for long.
  *
  * Limit: keys whose hashes agree in the 20 upper bits share a leaf, which then grows beyond its
  * usual size. Nobody can choose such keys, see [[HashKey]].
  */
private[hash] final class HashTree(arena: Arena, records: Records) {
  import HashPages._
  import HashTree._

  private def addressOf(reference: Long): Long = arena.addresses.of(pageOf(reference))

  /** The content of a key's slot, or 0. */
  def find(root: Long, hash: Int, key: Slice): Long = {
    val leaf = leafOf(root, hash)
    if (leaf == 0L) 0L
    else {
      val at = addressOf(leaf)
      val mask = slotsOf(leaf) - 1
      var i = hash & mask
      var content = slot(at, i)
      while (
        content != 0L && !(hashOf(content) == hash && records.hasKey(recordOf(content), key))
      ) {
        i = (i + 1) & mask
        content = slot(at, i)
      }
      content
    }
  }

  private def leafOf(root: Long, hash: Int): Long = {
    var reference = root
    var shift = FirstShift
    while (isBranch(reference)) {
      reference = slot(addressOf(reference), childOf(hash, shift))
      shift -= FanoutBits
    }
    reference
  }

  /** Puts another record in the place of one. */
  def replace(root: Long, hash: Int, before: Int, after: Int): Unit = {
    val at = addressOf(leafOf(root, hash))
    setSlot(at, indexOf(at, slotOf(hash, before)), slotOf(hash, after))
  }

  /** Adds a record whose key is absent.
    *
    * @param expected
    *   number of entries to make a new table for
    */
  def insert(root: Long, hash: Int, record: Int, expected: Int = 0): Long =
    if (root == 0L && expected > 0 && fits(expected, LargestLeaf)) {
      val leaf = newLeaf(slotsFor(expected))
      place(addressOf(leaf), slotOf(hash, record))
      leaf
    } else insert(root, FirstShift, slotOf(hash, record))

  private def insert(root: Long, shift: Int, content: Long): Long =
    if (root == 0L) {
      val leaf = newLeaf(SmallestLeaf)
      place(addressOf(leaf), content)
      leaf
    } else if (isBranch(root)) insertBelow(root, shift, content)
    else {
      val at = addressOf(root)
      val count = slotsOf(root)
      if (fits(entries(at) + 1, count)) {
        place(at, content)
        root
      } else if (count < LargestLeaf || shift < LastShift) {
        val larger = resized(root, count * 2)
        place(addressOf(larger), content)
        larger
      } else insertBelow(split(root, shift, content), shift, content)
    }

  private def insertBelow(branch: Long, shift: Int, content: Long): Long = {
    val at = addressOf(branch)
    val i = childOf(hashOf(content), shift)
    val before = slot(at, i)
    val after = insert(before, shift - FanoutBits, content)
    if (after != before) setSlot(at, i, after)
    setEntries(at, entries(at) + 1)
    branch
  }

  /** Removes a record that is present. */
  def remove(root: Long, hash: Int, record: Int): Long =
    remove(root, FirstShift, slotOf(hash, record))

  private def remove(root: Long, shift: Int, content: Long): Long = {
    val at = addressOf(root)
    if (entries(at) == 1) {
      free(root)
      0L
    } else if (isBranch(root)) {
      val i = childOf(hashOf(content), shift)
      val before = slot(at, i)
      val after = remove(before, shift - FanoutBits, content)
      if (after != before) setSlot(at, i, after)
      setEntries(at, entries(at) - 1)
      if (entries(at) * 4 <= LargestLeaf) smaller(root, slotsFor(entries(at))) else root
    } else {
      clearSlot(at, indexOf(at, content))
      val count = slotsOf(root)
      if (count > SmallestLeaf && entries(at) * 4 <= count) smaller(root, count / 2) else root
    }
  }

  /** Only to save memory: it may be short. */
  private def smaller(root: Long, slots: Int): Long =
    try resized(root, slots)
    catch { case _: OutOfMemory | _: ClosedByInterruptException => root }

  private def newLeaf(slots: Int): Long = newPage(slots, leafLength(slots))

  private def newPage(slots: Int, length: Int): Long = {
    val page = arena.allocate(length)
    initialize(arena.addresses.of(page), slots, length)
    reference(page, slots)
  }

  private def resized(root: Long, slots: Int): Long = {
    val leaf = newLeaf(slots)
    val to = addressOf(leaf)
    eachSlot(root)(place(to, _))
    free(root)
    leaf
  }

  /** Turns a leaf into a branch that has room for one more entry. */
  private def split(leaf: Long, shift: Int, more: Long): Long = {
    val counts = new Array[Int](Fanout)
    counts(childOf(hashOf(more), shift)) += 1
    eachSlot(leaf)(content => counts(childOf(hashOf(content), shift)) += 1)
    val branch = newPage(0, BranchLength)
    val at = addressOf(branch)
    OnFailure(free(branch)) {
      for (i <- 0 until Fanout if counts(i) > 0) setSlot(at, i, newLeaf(slotsFor(counts(i))))
    }
    eachSlot(leaf) { content =>
      place(addressOf(slot(at, childOf(hashOf(content), shift))), content)
    }
    setEntries(at, entries(addressOf(leaf)))
    free(leaf)
    branch
  }

  /** Frees all pages. */
  def free(root: Long): Unit = if (root != 0L) {
    if (isBranch(root)) {
      val at = addressOf(root)
      for (i <- 0 until Fanout) free(slot(at, i))
    }
    arena.free(pageOf(root))
  }

  /** Calls `use` for the content of each slot, in no particular order. */
  def eachSlot(root: Long)(use: Long => Unit): Unit = if (root != 0L) {
    val at = addressOf(root)
    val branch = isBranch(root)
    val count = if (branch) Fanout else slotsOf(root)
    var i = 0
    while (i < count) {
      val content = slot(at, i)
      if (content != 0L) {
        if (branch) eachSlot(content)(use) else use(content)
      }
      i += 1
    }
  }

  /** Whether the content of a slot satisfies a condition. */
  def exists(root: Long)(condition: Long => Boolean): Boolean = root != 0L && {
    val at = addressOf(root)
    val branch = isBranch(root)
    val count = if (branch) Fanout else slotsOf(root)
    var i = 0
    while (
      i < count && !(slot(at, i) != 0L && {
        if (branch) exists(slot(at, i))(condition) else condition(slot(at, i))
      })
    ) i += 1
    i < count
  }

  /** Adds the records with hashes of at least `from` in the leaf of `from`, or in the next leaf, in
    * no particular order.
    *
    * @param from
    *   0 to 2^32^
    * @return
    *   the hash to continue from; [[HashTree.End]] at the end
    */
  def collect(root: Long, from: Long, into: IntList): Long = {
    var reference = root
    var shift = FirstShift
    var start = 0L
    while (isBranch(reference)) {
      val at = addressOf(reference)
      var i = if (from > start) ((from - start) >>> shift).toInt else 0
      while (i < Fanout && slot(at, i) == 0L) i += 1
      // If no leaf is left in this branch, the caller continues after it.
      if (i < Fanout) {
        reference = slot(at, i)
        start += i.toLong << shift
        shift -= FanoutBits
      } else reference = 0L
    }
    if (reference != 0L) collectLeaf(reference, from, into)
    start + (Fanout.toLong << shift)
  }

  private def collectLeaf(leaf: Long, from: Long, into: IntList): Unit = {
    val at = addressOf(leaf)
    val count = slotsOf(leaf)
    var i = 0
    while (i < count) {
      val content = slot(at, i)
      if (content != 0L && (content >>> 32) >= from) into.add(recordOf(content))
      i += 1
    }
  }
}

private[map] object HashTree {

  /** One past the last hash. */
  val End: Long = 1L << 32

  /** The upper bits of a hash choose the path to depth 5; 12 bits are left for a leaf. */
  private val FirstShift = 28
  private val LastShift = 12

  private def childOf(hash: Int, shift: Int): Int = (hash >>> shift) & (HashPages.Fanout - 1)
}
