package io.keyfold.map.cursor

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.RowCursor
import io.keyfold.map.value.{IntList, Records, ValueSteps}
import io.keyfold.map.version.OpenCursor
import io.keyfold.mem.Slice

/** Steps through the records of an index as it is when the cursor is made, fetching one leaf's at a
  * time. If the first leaf is not all, a transaction keeps its pages as they are until the cursor
  * has come to its end or is closed.
  *
  * @param values
  *   to step through a row's values with; null in a family of one value a key
  * @param lock
  *   of the view that has the records
  * @param txn
  *   the same view if it is a transaction that is open, else null
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

  /** What keeps the pages as they are, if anything does. */
  private var pages: OpenCursor = _

  /** Where the cursor is; 0 if at no row. */
  private var record = 0
  override val key = new Slice
  override val value = new Slice

  /** Adds the records that come next, of one leaf at least.
    *
    * @return
    *   whether there may be more after them
    */
  protected def fetch(batch: IntList): Boolean

  /** To be called when the cursor is made. */
  protected def start(): Unit = {
    fetchNext()
    if (more && txn != null) {
      pages = txn.pinPages()
    }
  }

  override def hash: Int = if (lock.isMine) hashNow else lock.locked(hashNow)

  private def hashNow = {
    val at = record
    if (at == 0) throw new OutOfOrder("The cursor is at no row")
    records.hash(at)
  }

  override def next(): Boolean =
    if (lock.isMine) step() else lock.locked(step() && lock.detach(key) && lock.detach(value))

  private def step(): Boolean = {
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
    if (lock.isMine) values.next(value) else lock.locked(values.next(value) && lock.detach(value))
  }

  /** Takes the lock where it frees something: another thread may be at its first step. */
  override def close(): Unit = if (pages == null && lock.isMine) end() else lock.ifQuiet(end())

  private def end(): Unit = {
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
