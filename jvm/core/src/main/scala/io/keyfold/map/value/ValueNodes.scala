package io.keyfold.map.value

import io.keyfold.mem.{Mem, Slice}
import io.keyfold.mem.arena.{Addresses, Arena}

/** The values of a row in a family with several values per key: a linked list from the newest to
  * the oldest, one node per value:
  *
  * {{{
  *   0  i32  node of the next older value; 0: this is the oldest
  *   4  i32  length of the value in bytes
  *   8  i32  epoch in which it was written; sign bit: shared with a replaced record
  *  12  i32  1: added by an append that created the row; 2: of the base, taken from a run; else 0
  *  16       value
  * }}}
  *
  * Only the sign bit of a node's epoch ever changes, so versions share the older part of a list: an
  * append adds one node, however long the list is. Epochs never increase from a node to the next
  * older one.
  */
private[map] final class ValueNodes(addresses: Addresses) {
  import ValueNodes._

  /** The next older node, or 0. */
  def older(node: Int): Int = Mem.getInt(null, addresses.of(node))

  def epoch(node: Int): Int = Mem.getInt(null, addresses.of(node) + EpochAt) & ~Records.Shown

  def value(node: Int, into: Slice): Slice = {
    val at = addresses.of(node)
    into.set(null, at + HeaderLength, Mem.getInt(null, at + LengthAt))
  }

  /** The oldest node of a list. */
  def oldest(newest: Int): Int = {
    var node = newest
    var before = older(node)
    while (before != 0) {
      node = before
      before = older(node)
    }
    node
  }

  /** Whether the node was written after `epoch` and no replaced record shares it. */
  def isPrivate(node: Int, epoch: Int): Boolean =
    Mem.getInt(null, addresses.of(node) + EpochAt) > epoch

  /** Keeps the node and all older ones from now on, if it was written after `epoch`. */
  def share(node: Int, epoch: Int): Unit = {
    val at = addresses.of(node) + EpochAt
    val written = Mem.getInt(null, at)
    if (written > epoch) Mem.putInt(null, at, written | Records.Shown)
  }

  /** Whether the node is the first of a row that an append created, see [[RecordSpace.write]]. */
  def isFirstAdded(node: Int): Boolean = origin(node) == FirstAdded

  /** Whether the value was taken from a run in which the transaction's base has it too. */
  def isOfBase(node: Int): Boolean = origin(node) == OfBase

  private def origin(node: Int) = Mem.getInt(null, addresses.of(node) + OriginAt)

  /** @param origin
    *   one of [[ValueNodes]]
    */
  def write(node: Int, epoch: Int, older: Int, value: Slice, origin: Int): Unit = {
    val at = addresses.of(node)
    Mem.putInt(null, at, older)
    Mem.putInt(null, at + LengthAt, value.length)
    Mem.putInt(null, at + EpochAt, epoch)
    Mem.putInt(null, at + OriginAt, origin)
    Mem.copy(value.base, value.offset, null, at + HeaderLength, value.length)
  }

  /** Frees the nodes of a list made after `epoch`; reads no older one. */
  def freeNewer(newest: Int, epoch: Int, arena: Arena): Unit = {
    var node = newest
    while (node != 0 && this.epoch(node) > epoch) {
      val before = older(node)
      arena.free(node)
      node = before
    }
  }
}

private[map] object ValueNodes {
  private val LengthAt = 4L
  private val EpochAt = 8L
  private val OriginAt = 12L
  private val HeaderLength = 16

  /** Where a value comes from. */
  val Written = 0
  val FirstAdded = 1
  val OfBase = 2

  /** Bytes of a node.
    *
    * @throws java.lang.ArithmeticException
    *   if they exceed the size of an array
    */
  def size(value: Int): Int = Math.addExact(HeaderLength, value)
}
