package io.keyfold.map.value

import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses

/** Steps through the values of a row, oldest first. */
private[map] final class ValueSteps(addresses: Addresses) {
  import ValueSteps._

  private val records = new Records(addresses)
  private val nodes = new ValueNodes(addresses)
  private val newestFirst = new IntList
  private val head = new Slice
  private var left = 0

  /** Starts before the first value of a record that was written after `epoch`, the last of the
    * transaction's base.
    *
    * @return
    *   whether there are older values
    */
  def start(record: Int, epoch: Int): Boolean = {
    newestFirst.clear()
    var node = ValueHead.newest(records.value(record, head))
    while (node != 0 && nodes.epoch(node) > epoch && (epoch == AnyEpoch || !nodes.isOfBase(node))) {
      newestFirst.add(node)
      node = nodes.older(node)
    }
    left = newestFirst.size
    node != 0
  }

  /** Whether the row was created by an append, not by a put. */
  def begunByAppend: Boolean =
    newestFirst.size > 0 && nodes.isFirstAdded(newestFirst(newestFirst.size - 1))

  def next(value: Slice): Boolean = left > 0 && {
    left -= 1
    nodes.value(newestFirst(left), value)
    true
  }

  /** Ends the iteration. */
  def stop(): Unit = left = 0
}

private[map] object ValueSteps {

  /** An epoch before all others. */
  val AnyEpoch = 0
}
