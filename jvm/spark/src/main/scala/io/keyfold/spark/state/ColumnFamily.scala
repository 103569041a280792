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

  /** All values of a key. */
  def valuesOf(key: UnsafeRow): Iterator[UnsafeRow] = {
    requireMultiValue("valuesIterator")
    new RowValues(view.values(index, hashOf(key), keys.encode(key)), schema)
  }

  def iterator(): StateStoreIterator[UnsafeRowPair] = pairs(view.scan(index), all = false)

  def iteratorOfAll(): StateStoreIterator[UnsafeRowPair] = {
    requireMultiValue("iteratorWithMultiValues")
    pairs(view.scan(index), all = true)
  }

  def prefixScan(prefix: UnsafeRow): StateStoreIterator[UnsafeRowPair] =
    pairs(withPrefix(prefix), all = false)

  def prefixScanOfAll(prefix: UnsafeRow): StateStoreIterator[UnsafeRowPair] = {
    requireMultiValue("prefixScanWithMultiValues")
    pairs(withPrefix(prefix), all = true)
  }

  private def withPrefix(prefix: UnsafeRow) = {
    if (hashOfPrefix != null) view.requirePlace(index, hashOfPrefix(prefix))
    view.scanPrefix(index, keys.encodePrefix(prefix))
  }

  def rangeScan(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow]
  ): StateStoreIterator[UnsafeRowPair] = pairs(range("rangeScan", start, end), all = false)

  def rangeScanOfAll(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow]
  ): StateStoreIterator[UnsafeRowPair] = {
    requireMultiValue("rangeScanWithMultiValues")
    pairs(range("rangeScanWithMultiValues", start, end), all = true)
  }

  def put(txn: StoreTxn, key: UnsafeRow, value: UnsafeRow): Unit =
    txn.put(index, hashOf(key), keys.encode(key), values.encode(value))

  /** Replaces all values of a key. */
  def putAll(txn: StoreTxn, key: UnsafeRow, rows: Array[UnsafeRow]): Unit = {
    requireMultiValue("putList")
    if (rows.isEmpty) remove(txn, key)
    else {
      put(txn, key, rows(0))
      appendAll(txn, key, rows, from = 1)
    }
  }

  def append(txn: StoreTxn, key: UnsafeRow, value: UnsafeRow): Unit = {
    requireMultiValue("merge")
    txn.append(index, hashOf(key), keys.encode(key), values.encode(value))
  }

  def appendAll(txn: StoreTxn, key: UnsafeRow, rows: Array[UnsafeRow], from: Int): Unit = {
    requireMultiValue("mergeList")
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
    require(KeyCodec.hasRemoveRange(schema.key), unsupported("deleteRange"))
    val from = new Slice().set(keys.encode(start).toArray)
    txn.removeRange(index, from, keys.encode(end))
    ()
  }

  private def range(operation: String, start: Option[UnsafeRow], end: Option[UnsafeRow]) = {
    require(KeyCodec.hasRangeScan(schema.key), unsupported(operation))
    val from = start.fold[Slice](null)(row => new Slice().set(keys.encode(row).toArray))
    view.scanRange(index, from, end.fold[Slice](null)(keys.encode))
  }

  private def pairs(rows: RowCursor, all: Boolean) =
    new StateStoreIterator(new RowPairs(rows, schema, all), () => rows.close())

  private def require(condition: Boolean, otherwise: => Throwable): Unit =
    if (!condition) throw otherwise

  private def requireMultiValue(operation: String): Unit =
    require(
      schema.multiValue,
      StateStoreErrors.unsupportedOperationException(
        operation,
        s"column family ${schema.name}, which has one value for a key"
      )
    )

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
