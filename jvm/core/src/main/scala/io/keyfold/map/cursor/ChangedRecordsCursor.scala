package io.keyfold.map.cursor

import io.keyfold.map.ChangeCursor
import io.keyfold.map.value.{IntList, Records, ValueSteps}
import io.keyfold.mem.Slice
import io.keyfold.mem.arena.Addresses
import io.keyfold.model.FamilySpec

/** Steps through changes: first the records put, then those removed; [[reset]] starts over with
  * others.
  *
  * A value list that leads into the base was appended to the base's row, since only the base's
  * newest value can be appended to. A list that does not lead there counts as appended if it was
  * never put and the base has no row of its key.
  *
  * @param baseEpoch
  *   the base's last epoch
  * @param base
  *   the keys of the base, for families with several values per key
  * @param lock
  *   of the view that has the records
  */
private[map] final class ChangedRecordsCursor(
    addresses: Addresses,
    val spec: FamilySpec,
    baseEpoch: Int,
    base: KeySet,
    lock: ViewLock
) extends ChangeCursor {
  val put = new IntList
  val gone = new IntList
  private val records = new Records(addresses)
  private val values = if (spec.multiValue) new ValueSteps(addresses) else null
  private var index = -1
  override val key = new Slice
  override val value = new Slice

  /** Whether the values are appended to the base's row. */
  private var added = false

  /** Clears the changes so that `put` and `gone` can be filled again. */
  def reset(): Unit = {
    index = -1
    put.clear()
    gone.clear()
  }

  override def appended: Boolean = added
  override def removed: Boolean = index >= put.size
  override def hash: Int = if (lock.isMine) hashNow else lock.locked(hashNow)

  private def hashNow = records.hash(current)

  override def next(): Boolean =
    if (lock.isMine) step() else lock.locked(step() && lock.detach(key) && lock.detach(value))

  private def step(): Boolean = {
    index += 1
    index < put.size + gone.size && {
      records.key(current, key)
      if (values != null) startValues()
      else if (!removed) records.value(current, value)
      true
    }
  }

  override def nextValue(): Boolean = values != null && {
    if (lock.isMine) values.next(value) else lock.locked(values.next(value) && lock.detach(value))
  }

  override def close(): Unit = reset()

  private def startValues(): Unit =
    if (removed) {
      added = false
      values.stop()
    } else {
      added = values.start(current, baseEpoch) ||
        (values.begunByAppend && !base.contains(hash, key))
      values.next(value)
      ()
    }

  private def current = if (removed) gone(index - put.size) else put(index)
}
