package io.keyfold.map.ordered

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
  start()

  override protected def fetch(batch: IntList): Boolean = {
    val more = tree.collect(root, from, behind = started, until, batch)
    started = true
    if (more) tree.records.key(batch(batch.size - 1), from)
    more
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
