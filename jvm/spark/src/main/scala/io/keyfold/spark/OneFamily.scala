package io.keyfold.spark

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._

/** Reading the default column family, the only one so far. Other families, and what only they need,
  * are refused with Spark's own errors.
  */
private trait OneFamily extends ReadStateStore {
  protected def rows: StoreRows

  override def get(key: UnsafeRow, family: String): UnsafeRow = {
    requireDefault(family)
    rows.get(key)
  }

  override def keyExists(key: UnsafeRow, family: String): Boolean = {
    requireDefault(family)
    rows.contains(key)
  }

  override def multiGet(keys: Array[UnsafeRow], family: String): Iterator[UnsafeRow] = {
    requireDefault(family)
    keys.iterator.map(rows.get)
  }

  override def iterator(family: String): StateStoreIterator[UnsafeRowPair] = {
    requireDefault(family)
    rows.iterator()
  }

  override def prefixScan(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = {
    requireDefault(family)
    rows.prefixScan(prefix)
  }

  override def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)

  override def valuesIterator(key: UnsafeRow, family: String): Iterator[UnsafeRow] =
    throw unsupported("valuesIterator")

  override def prefixScanWithMultiValues(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = throw unsupported("prefixScanWithMultiValues")

  override def iteratorWithMultiValues(family: String): StateStoreIterator[UnsafeRowPair] =
    throw unsupported("iteratorWithMultiValues")

  override def rangeScan(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair] = throw unsupported("rangeScan")

  override def rangeScanWithMultiValues(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair] = throw unsupported("rangeScanWithMultiValues")

  protected def unsupported(what: String): Throwable =
    StateStoreErrors.unsupportedOperationException(what, KeyfoldStateStoreProvider.Name)

  protected def requireDefault(family: String): Unit =
    if (family != StateStore.DEFAULT_COL_FAMILY_NAME) {
      throw StateStoreErrors.multipleColumnFamiliesNotSupported(KeyfoldStateStoreProvider.Name)
    }
}
