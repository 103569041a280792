package io.keyfold.map

import io.keyfold.mem.Slice

/** Steps through the records of an index as it is when the cursor is made, fetching one leaf's at a
  * time. If the first leaf is not all, a transaction keeps its pages as they are until the cursor
  * has come to its end.
  *
  * @param values
  *   to step through a row's values with; null in a family of one value a key
  * @param owner
  *   the view that keeps the records
  * @param txn
  *   the same if it is a transaction that is open, else null
  */
private[map] abstract class RecordCursor(
    records: Records,
    values: ValueSteps,
    val owner: MapView,
    txn: ArenaTxn
) extends RowCursor {
  private val batch = new IntList
  private var index = -1
  private var more = true
  private var keeping = false
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
      txn.keepPages()
      keeping = true
    }
  }

  override def hash: Int = records.hash(batch(index))

  override def next(): Boolean = {
    index += 1
    if (index >= batch.size && more) {
      fetchNext()
      index = 0
    }
    val found = index < batch.size
    if (found) records.key(batch(index), key)
    if (values != null) startValues(found)
    else if (found) records.value(batch(index), value)
    found
  }

  override def nextValue(): Boolean = values != null && values.next(value)

  private def startValues(found: Boolean): Unit =
    if (found) {
      values.start(batch(index), ValueSteps.AnyEpoch)
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
        txn.show(batch(i))
        i += 1
      }
    }
    if (!more && keeping) {
      keeping = false
      txn.letPagesGo()
    }
  }
}
