package io.keyfold.map.hash

import io.keyfold.mem.Mem

/** The two kinds of pages of a hash table; all accessors take an address.
  *
  * {{{
  * leaf    0  i32  slots, 8 to 4096       branch  0  i32  0
  *         4  i32  entries                        4  i32  entries below
  *         8  i64 x slots                         8  i64 x 16  references
  * }}}
  *
  * A slot holds a record's handle in its lower half and its key's index hash in its upper half, or
  * is 0. Entries are placed by linear probing from `hash % slots`; at most 3 of 4 slots are used. A
  * reference to a page has its handle in the lower half and its slots in the upper half, so that a
  * look-up need not read the beginning of a leaf, which is rarely in the processor's cache; 0:
  * there is no page.
  */
private[map] object HashPages {
  val SmallestLeaf = 8

  /** A leaf with more entries than fit becomes a branch. Rarely, since a key group has a thousand
    * rows in a large state.
    */
  val LargestLeaf = 4096
  val Fanout = 16
  val FanoutBits = 4
  private val HeaderLength = 8
  val BranchLength: Int = HeaderLength + Fanout * java.lang.Long.BYTES

  def slots(at: Long): Int = Mem.getInt(null, at)
  def entries(at: Long): Int = Mem.getInt(null, at + 4)
  def setEntries(at: Long, count: Int): Unit = Mem.putInt(null, at + 4, count)

  /** Content of a slot of a leaf, or a reference of a branch. */
  def slot(at: Long, i: Int): Long = Mem.getLong(null, at + HeaderLength + i * 8L)
  def setSlot(at: Long, i: Int, content: Long): Unit =
    Mem.putLong(null, at + HeaderLength + i * 8L, content)

  def slotOf(hash: Int, record: Int): Long = (hash.toLong << 32) | (record & 0xffffffffL)
  def recordOf(slot: Long): Int = slot.toInt
  def hashOf(slot: Long): Int = (slot >>> 32).toInt

  def pageOf(reference: Long): Int = reference.toInt
  def slotsOf(reference: Long): Int = (reference >>> 32).toInt
  def reference(page: Int, slots: Int): Long = (slots.toLong << 32) | (page & 0xffffffffL)
  def isBranch(reference: Long): Boolean = slotsOf(reference) == 0 && reference != 0L

  def leafLength(slots: Int): Int = HeaderLength + slots * java.lang.Long.BYTES

  def initialize(at: Long, slots: Int, length: Int): Unit = {
    Mem.fill(at, length.toLong, 0)
    Mem.putInt(null, at, slots)
  }

  /** Slots of a leaf with this many entries. */
  def slotsFor(entries: Int): Int = {
    var slots = SmallestLeaf
    while (!fits(entries, slots)) slots <<= 1
    slots
  }

  def fits(entries: Int, slots: Int): Boolean = entries * 4L <= slots * 3L

  /** Adds an entry to a leaf that has room. */
  def place(at: Long, content: Long): Unit = {
    val mask = slots(at) - 1
    var i = hashOf(content) & mask
    while (slot(at, i) != 0L) i = (i + 1) & mask
    setSlot(at, i, content)
    setEntries(at, entries(at) + 1)
  }

  /** Index of the slot with exactly this content, or -1. */
  def indexOf(at: Long, content: Long): Int = {
    val mask = slots(at) - 1
    var i = hashOf(content) & mask
    var found = slot(at, i)
    while (found != 0L && found != content) {
      i = (i + 1) & mask
      found = slot(at, i)
    }
    if (found == 0L) -1 else i
  }

  /** Empties a slot and moves back the entries that were displaced past it. */
  def clearSlot(at: Long, index: Int): Unit = {
    val mask = slots(at) - 1
    var hole = index
    var i = (hole + 1) & mask
    var content = slot(at, i)
    while (content != 0L) {
      val home = hashOf(content) & mask
      // Whether the hole lies between the entry's home and its slot.
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        setSlot(at, hole, content)
        hole = i
      }
      i = (i + 1) & mask
      content = slot(at, i)
    }
    setSlot(at, hole, 0L)
    setEntries(at, entries(at) - 1)
  }
}
