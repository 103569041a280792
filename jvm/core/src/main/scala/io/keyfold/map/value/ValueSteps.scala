package io.keyfold.map.value

import io.keyfold.mem.{Addresses, Slice}

/** Steps through the values of a row, the oldest first. */
private[map] final class ValueSteps(addresses: Addresses) {
  private val records = new Records(addresses)
  private val nodes = new ValueNodes(addresses)
  private val newestFirst = new IntList
  private val head = new Slice
  private var left = 0

  /** Goes before the first value of a record that was written after `epoch`.
    *
    * @return
    *   whether there are values before that
    */
  def start(record: Int, epoch: Int): Boolean = {
    newestFirst.clear()
    var node = ValueHead.newest(records.value(record, head))
    while (node != 0 && nodes.epoch(node) > epoch) {
      newestFirst.add(node)
      node = nodes.older(node)
    }
    left = newestFirst.size
    node != 0
  }

  /** Whether the first value was added to a row that was not there, and not put. */
  def begunByAppend: Boolean =
    newestFirst.size > 0 && nodes.isFirstAdded(newestFirst(newestFirst.size - 1))

  def next(value: Slice): Boolean = left > 0 && {
    left -= 1
    nodes.value(newestFirst(left), value)
    true
  }

  /** There is no value to step to any more. */
  def stop(): Unit = left = 0
}

private[map] object ValueSteps {

  /** Before everything. */
  val AnyEpoch = 0
}
