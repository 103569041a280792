package io.keyfold.map.hash

import io.keyfold.map.version.PageHeader
import io.keyfold.mem.Mem

/** The two kinds of pages of a hash trie; all accessors take an address. One thread writes a page,
  * before its version is published; then it never changes.
  *
  * {{{
  * leaf    0  i32  epoch          branch  0  i32  epoch
  *         4  i32  slots, 8 to 64         4  i32  0
  *         8  i32  entries                8  i32  entries below
  *        12  i32  0                     12  i32  0
  *        16  i64 x slots                16  i32 x 16   pages, 0: none
  *                                        80  u8 x 16    log2 of their slots, 0: a branch
  * }}}
  *
  * A slot holds the record's handle in its lower half and the key's index hash in its upper half,
  * or is 0. Entries are placed by linear probing from `hash % slots`; at most 3 of 4 slots are
  * used.
  */
private[map] object TriePages extends PageHeader {
  val SmallestLeaf = 8

  /** A leaf with more entries than fit becomes a branch. */
  val LargestLeaf = 64
  val Fanout = 16
  val FanoutBits = 4
  private val SizesAt = HeaderLength + Fanout * Integer.BYTES
  val BranchLength: Int = SizesAt + Fanout

  def isBranch(at: Long): Boolean = slots(at) == 0
  def slots(at: Long): Int = Mem.getInt(null, at + 4)

  def slot(at: Long, i: Int): Long = Mem.getLong(null, at + HeaderLength + i * 8L)
  def setSlot(at: Long, i: Int, slot: Long): Unit =
    Mem.putLong(null, at + HeaderLength + i * 8L, slot)

  def child(at: Long, i: Int): Int = Mem.getInt(null, at + HeaderLength + i * 4L)

  /** Slots of a child, 0 if it is a branch. Kept in the parent because the child is rarely in the
    * processor's cache.
    */
  def childSlots(at: Long, i: Int): Int = (1 << Mem.getByte(null, at + SizesAt + i)) & ~1

  /** @param slots
    *   of the child
    */
  def setChild(at: Long, i: Int, page: Int, slots: Int): Unit = {
    Mem.putInt(null, at + HeaderLength + i * 4L, page)
    val power = if (slots == 0) 0 else Integer.numberOfTrailingZeros(slots)
    Mem.putByte(null, at + SizesAt + i, power.toByte)
  }

  def slotOf(hash: Int, record: Int): Long = (hash.toLong << 32) | (record & 0xffffffffL)
  def recordOf(slot: Long): Int = slot.toInt
  def hashOf(slot: Long): Int = (slot >>> 32).toInt

  def length(at: Long): Int = if (isBranch(at)) BranchLength else leafLength(slots(at))
  def leafLength(slots: Int): Int = HeaderLength + slots * java.lang.Long.BYTES

  def initialize(at: Long, epoch: Int, slots: Int, length: Int): Unit = {
    Mem.fill(at, length.toLong, 0)
    setEpoch(at, epoch)
    Mem.putInt(null, at + 4, slots)
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
