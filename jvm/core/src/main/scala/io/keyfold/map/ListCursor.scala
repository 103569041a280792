package io.keyfold.map

import io.keyfold.format.FamilySpec
import io.keyfold.mem.{Addresses, Slice}

/** Steps through changes: records put, then those removed; of others after [[reset]].
  *
  * A list of values that ends in one of the base goes on with what the base has, since the newest
  * of the base is the only one that something can be added to. One that was begun anew does not.
  *
  * @param baseEpoch
  *   the last one that the base has seen
  * @param owner
  *   the view that keeps the records
  */
private[map] final class ListCursor(
    addresses: Addresses,
    val spec: FamilySpec,
    val put: IntList,
    val gone: IntList,
    baseEpoch: Int,
    val owner: MapView
) extends ChangeCursor {
  private val records = new Records(addresses)
  private val values = if (spec.multiValue) new ValueSteps(addresses) else null
  private var index = -1
  override val key = new Slice
  override val value = new Slice

  /** Whether the values follow those that the base has. */
  private var behindBase = false

  /** Forgets what it has, so that `put` and `gone` can be filled anew. */
  def reset(): Unit = {
    index = -1
    put.clear()
    gone.clear()
  }

  override def appended: Boolean = behindBase
  override def removed: Boolean = index >= put.size
  override def hash: Int = records.hash(current)

  override def next(): Boolean = {
    index += 1
    index < put.size + gone.size && {
      records.key(current, key)
      if (values != null) startValues()
      else if (!removed) records.value(current, value)
      true
    }
  }

  override def nextValue(): Boolean = values != null && values.next(value)

  private def startValues(): Unit =
    if (removed) {
      behindBase = false
      values.stop()
    } else {
      behindBase = values.start(current, baseEpoch)
      values.next(value)
      ()
    }

  private def current = if (removed) gone(index - put.size) else put(index)
}
