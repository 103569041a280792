package io.keyfold.spark.state

import io.keyfold.errors.CorruptRow
import io.keyfold.map.RowCursor
import io.keyfold.mem.Slice
import io.keyfold.spark.encoding.KeyCodec
import io.keyfold.store.{StoreTxn, StoreView}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkPrivate

/** A column family of a view, with rows instead of bytes. Belongs to one task.
  *
  * Returned rows stay unchanged until the task ends; the row objects of an iterator are reused.
  *
  * @param index
  *   of the family in the view; -1 if the view has no rows of it
  */
private[spark] final class ColumnFamily(view: StoreView, schema: FamilySchema, index: Int) {
  private val keys = schema.newKeys()
  private val values = schema.newValues()
  private val spec = if (index < 0) schema.spec else view.families(index).spec
  private val hashOf = schema.newHash(spec.partitionKey)
  // Without a rescale nothing is asked of it.
  private val hashOfPrefix = if (spec.rescaled) schema.newPrefixHash(spec.partitionKey) else null
  private val slice = new Slice

  def get(key: UnsafeRow): UnsafeRow =
    if (contains(key)) {
      val value = values.decode(slice, new UnsafeRow(schema.value.length))
      schema.validate(key, value)
      value
    } else null

  def contains(key: UnsafeRow): Boolean =
    try view.get(index, hashOf(key), keys.encode(key), slice)
    catch { case e: CorruptRow => throw ColumnFamily.sparksError(e) }

  /** Whether a key may have several values. */
  def multiValue: Boolean = schema.multiValue

  /** All values of a key. */
  def valuesOf(key: UnsafeRow): Iterator[UnsafeRow] =
    new RowValues(view.values(index, hashOf(key), keys.encode(key)), schema)

  /** @param all
    *   one pair per value instead of one per key, here and below
    */
  def iterator(all: Boolean): StateStoreIterator[UnsafeRowPair] = pairs(view.scan(index), all)

  def prefixScan(prefix: UnsafeRow, all: Boolean): StateStoreIterator[UnsafeRowPair] = {
    if (hashOfPrefix != null) view.requirePlace(index, hashOfPrefix(prefix))
    pairs(view.scanPrefix(index, keys.encodePrefix(prefix)), all)
  }

  def rangeScan(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      all: Boolean
  ): StateStoreIterator[UnsafeRowPair] = {
    if (!KeyCodec.hasRangeScan(schema.key))
      throw unsupported(if (all) "rangeScanWithMultiValues" else "rangeScan")
    val from = start.fold[Slice](null)(row => new Slice().set(keys.encode(row).toArray))
    pairs(view.scanRange(index, from, end.fold[Slice](null)(keys.encode)), all)
  }

  def put(txn: StoreTxn, key: UnsafeRow, value: UnsafeRow): Unit =
    txn.put(index, hashOf(key), keys.encode(key), values.encode(value))

  /** Replaces all values of a key. */
  def putAll(txn: StoreTxn, key: UnsafeRow, rows: Array[UnsafeRow]): Unit =
    if (rows.isEmpty) remove(txn, key)
    else {
      put(txn, key, rows(0))
      appendAll(txn, key, rows, from = 1)
    }

  def append(txn: StoreTxn, key: UnsafeRow, value: UnsafeRow): Unit =
    txn.append(index, hashOf(key), keys.encode(key), values.encode(value))

  def appendAll(txn: StoreTxn, key: UnsafeRow, rows: Array[UnsafeRow], from: Int): Unit = {
    val hash = hashOf(key)
    val encoded = keys.encode(key)
    var i = from
    while (i < rows.length) {
      txn.append(index, hash, encoded, values.encode(rows(i)))
      i += 1
    }
  }

  def remove(txn: StoreTxn, key: UnsafeRow): Unit = {
    txn.remove(index, hashOf(key), keys.encode(key))
    ()
  }

  def removeRange(txn: StoreTxn, start: UnsafeRow, end: UnsafeRow): Unit = {
    if (!KeyCodec.hasRemoveRange(schema.key)) throw unsupported("deleteRange")
    val from = new Slice().set(keys.encode(start).toArray)
    txn.removeRange(index, from, keys.encode(end))
    ()
  }

  private def pairs(rows: RowCursor, all: Boolean) =
    new StateStoreIterator(new RowPairs(rows, schema, all), () => rows.close())

  private def unsupported(operation: String): Throwable =
    StateStoreErrors.unsupportedOperationException(
      operation,
      s"${schema.key.getClass.getSimpleName} key encoder"
    )
}

private object ColumnFamily {
  def sparksError(e: CorruptRow): Throwable =
    SparkPrivate.corruptRow(e.store, e.expected, e.computed, e)
}
