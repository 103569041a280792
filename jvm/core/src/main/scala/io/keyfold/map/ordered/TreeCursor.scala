package io.keyfold.map.ordered

import io.keyfold.map.cold.ColdRow
import io.keyfold.map.cursor.{PagePins, RecordCursor, ViewLock}
import io.keyfold.map.value.{IntList, ValueSteps}
import io.keyfold.mem.{Mem, Slice}

/** Rows of an ordered family in key order.
  *
  * @param from
  *   the smallest key, inclusive; the cursor takes ownership and overwrites it
  * @param until
  *   the end, exclusive; null: up to the last
  */
private[map] final class TreeCursor(
    tree: OrderedTree,
    root: Int,
    from: Slice,
    until: Slice,
    values: ValueSteps,
    lock: ViewLock,
    txn: PagePins
) extends RecordCursor(tree.records, values, lock, txn) {
  private var started = false

  /** The rows of the cold leaf that it is at, and the one that it is at; null if there is none. */
  private var cold: ColdLeaf = _
  private var coldRow: ColdRow = _
  private val behind = new IntList
  start()

  override protected def fetch(batch: IntList): Boolean = {
    val more = tree.collect(root, from, behind = started, until, batch)
    cold = tree.collected
    if (more && cold == null) tree.records.key(batch(batch.size - 1), from)
    val goesOn = more && (started || txn == null || until == null || isThereMore)
    started = true
    if (!goesOn && cold != null) cold.endWithBlock()
    goesOn
  }

  /** Whether there are rows behind the first ones. If not, the cursor needs no pages to be kept:
    * Spark does not close each one, and what they keep cannot leave memory.
    */
  private def isThereMore: Boolean = {
    val last = if (cold == null) from else cold.lastKey
    behind.clear()
    tree.collect(root, last, behind = true, until, behind)
    behind.size > 0 || tree.collected != null
  }

  override protected def step(): Boolean =
    if (cold != null) stepCold() else super.step() || cold != null && stepCold()

  private def stepCold(): Boolean =
    if (cold.next()) {
      coldRow = cold.row
      coldRow.key(key)
      coldRow.nextValue(value)
    } else {
      // The heap has the last key.
      from.set(key.base, key.offset, key.length)
      if (!cold.isAtEnd) endFetching()
      leaveCold()
      step()
    }

  override protected def stepValue(): Boolean =
    if (coldRow == null) super.stepValue() else coldRow.nextValue(value)

  override protected def hashNow: Int = if (coldRow == null) super.hashNow else coldRow.hash

  override protected def end(): Unit = {
    leaveCold()
    super.end()
  }

  private def leaveCold(): Unit = {
    cold = null
    coldRow = null
  }
}

private[map] object TreeCursor {

  /** The smallest key. */
  def first: Slice = new Slice().set(Array.emptyByteArray)

  /** The smallest key above all keys with this prefix; null if there is none. */
  def behindPrefix(prefix: Slice): Slice = {
    var length = prefix.length
    while (length > 0 && Mem.getByte(prefix.base, prefix.offset + length - 1) == -1) length -= 1
    if (length == 0) null
    else {
      val key = prefix.toArray
      key(length - 1) = (key(length - 1) + 1).toByte
      new Slice().set(key, 0, length)
    }
  }
}
