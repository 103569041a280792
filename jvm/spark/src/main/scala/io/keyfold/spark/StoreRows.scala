package io.keyfold.spark

import io.keyfold.errors.CorruptRow
import io.keyfold.map.RowCursor
import io.keyfold.mem.Slice
import io.keyfold.store.{StoreTxn, StoreView}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}
import org.apache.spark.sql.keyfold.SparkPrivate

/** The default column family of a view, in rows instead of bytes. Belongs to one task.
  *
  * Rows handed out stay unchanged until the task ends; the row objects of an iterator are reused.
  */
private final class StoreRows(view: StoreView, schema: StoreSchema) {
  import StoreRows._

  private val codec = schema.newCodec()
  private val hashOf = schema.newHash()
  private val valueSlice = new Slice

  def get(key: UnsafeRow): UnsafeRow =
    if (contains(key)) {
      val value = RowBytes.row(schema.value.length, valueSlice)
      schema.validate(key, value)
      value
    } else null

  def contains(key: UnsafeRow): Boolean =
    try view.get(Family, hashOf(key), codec.encode(key), valueSlice)
    catch { case e: CorruptRow => throw sparksError(e) }

  def iterator(): StateStoreIterator[UnsafeRowPair] = pairs(view.scan(Family))

  def prefixScan(prefix: UnsafeRow): StateStoreIterator[UnsafeRowPair] =
    pairs(view.scanPrefix(Family, codec.encodePrefix(prefix)))

  def put(txn: StoreTxn, key: UnsafeRow, value: UnsafeRow): Unit =
    txn.put(Family, hashOf(key), codec.encode(key), RowBytes.slice(value, valueSlice))

  def remove(txn: StoreTxn, key: UnsafeRow): Unit = {
    txn.remove(Family, hashOf(key), codec.encode(key))
    ()
  }

  private def pairs(rows: RowCursor) =
    new StateStoreIterator(new RowPairs(rows, schema))
}

private object StoreRows {

  /** Index of the only family so far. */
  private val Family = 0

  private def sparksError(e: CorruptRow): Throwable =
    SparkPrivate.corruptRow(e.store, e.expected, e.computed, e)

  /** A cursor as Spark's iterators are: `hasNext` looks ahead, `next` reuses its pair. */
  private final class RowPairs(rows: RowCursor, schema: StoreSchema)
      extends Iterator[UnsafeRowPair] {
    private val codec = schema.newCodec()
    private val pair = new UnsafeRowPair
    private val value = new UnsafeRow(schema.value.length)
    private var ahead = false
    private var ended = false

    override def hasNext: Boolean = {
      if (!ahead && !ended) {
        ahead =
          try rows.next()
          catch { case e: CorruptRow => throw sparksError(e) }
        ended = !ahead
      }
      ahead
    }

    override def next(): UnsafeRowPair = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      ahead = false
      value.pointTo(rows.value.base, rows.value.offset, rows.value.length)
      val key = codec.decode(rows.key)
      schema.validate(key, value)
      pair.withRows(key, value)
    }
  }
}
