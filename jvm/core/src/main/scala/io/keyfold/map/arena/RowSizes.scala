package io.keyfold.map.arena

import io.keyfold.map.ordered.TreePages
import io.keyfold.map.value.{Records, ValueHead}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses
import io.keyfold.model.FamilySpec

/** Which rows may leave memory: a row is written and read as a whole, on the heap, so one that is
  * very long stays.
  */
private[arena] final class RowSizes(addresses: Addresses) {
  import RowSizes._

  private val records = new Records(addresses)
  private val value = new Slice

  /** @param record of a row */
  def isTooLong(spec: FamilySpec, record: Int): Boolean = {
    records.value(record, value)
    val bytes = if (spec.multiValue) ValueHead.bytes(value) else value.length.toLong
    bytes > MostBytes
  }

  /** Whether all rows of the leaf at this address may leave. */
  def mayLeave(spec: FamilySpec, leaf: Long): Boolean = {
    var i = 0
    while (i < TreePages.entries(leaf) && !isTooLong(spec, TreePages.record(leaf, i))) i += 1
    i == TreePages.entries(leaf)
  }
}

private object RowSizes {
  private val MostBytes = 4L << 20
}
