package io.keyfold.map.cursor

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.RowCursor
import io.keyfold.map.value.{IntList, Records, ValueSteps}
import io.keyfold.map.version.OpenCursor
import io.keyfold.mem.Slice

/** Steps through the records of an index as it was when the cursor was made, one leaf at a time. If
  * there is more than one leaf, a transaction keeps its pages unchanged until the cursor reaches
  * its end or is closed.
  *
  * @param values
  *   steps through a row's values; null in a family with one value per key
  * @param lock
  *   of the view that has the records
  * @param txn
  *   the same view if it is an open transaction, else null
  */
private[map] abstract class RecordCursor(
    records: Records,
    values: ValueSteps,
    lock: ViewLock,
    txn: PagePins
) extends RowCursor {
  private val batch = new IntList
  private var index = -1
  private var more = true

  /** Keeps the pages unchanged; null if none is pinned. */
  protected var pages: OpenCursor = _

  /** The current record; 0 if there is none. */
  private var record = 0
  override val key = new Slice
  override val value = new Slice

  /** Adds the next records, at least one leaf.
    *
    * @return
    *   whether there may be more
    */
  protected def fetch(batch: IntList): Boolean

  /** Must be called at the end of construction. */
  protected def start(): Unit = {
    fetchNext()
    if (more && txn != null) {
      pages = txn.pinPages()
    }
  }

  override def hash: Int = if (lock.isMine) hashNow else lock.locked(hashNow)

  protected def hashNow: Int = {
    val at = record
    if (at == 0) throw new OutOfOrder("The cursor is not at a row")
    records.hash(at)
  }

  override def next(): Boolean =
    if (lock.isMine) step() else lock.locked(step() && lock.detach(key) && lock.detach(value))

  protected def step(): Boolean = {
    index += 1
    if (index >= batch.size && more) {
      fetchNext()
      index = 0
    }
    val at = if (index < batch.size) batch(index) else 0
    record = at
    if (at != 0) records.key(at, key)
    if (values != null) startValues(at)
    else if (at != 0) records.value(at, value)
    at != 0
  }

  override def nextValue(): Boolean = values != null && {
    if (lock.isMine) stepValue() else lock.locked(stepValue() && lock.detach(value))
  }

  protected def stepValue(): Boolean = values.next(value)

  /** Locks only if it frees something: another thread may be in its first call. */
  override def close(): Unit = if (pages == null && lock.isMine) end() else lock.ifQuiet(end())

  /** There are no more records to fetch. */
  protected def endFetching(): Unit = {
    more = false
    unpinPages()
  }

  protected def end(): Unit = {
    batch.clear()
    index = 0
    more = false
    record = 0
    if (values != null) values.stop()
    unpinPages()
  }

  private def unpinPages(): Unit = if (pages != null) {
    txn.unpinPages(pages)
    pages = null
  }

  private def startValues(at: Int): Unit =
    if (at != 0) {
      values.start(at, ValueSteps.AnyEpoch)
      values.next(value)
      ()
    } else values.stop()

  private def fetchNext(): Unit = {
    batch.clear()
    more = fetch(batch)
    records.touch(batch)
    if (txn != null) {
      var i = 0
      while (i < batch.size) {
        txn.markEscaped(batch(i))
        i += 1
      }
    }
    if (!more) unpinPages()
  }
}
