package io.keyfold.spark

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._

/** What this release does not have yet, refused with Spark's own errors; and the check that only
  * the default column family is asked for.
  */
private trait OneFamily { this: ReadStateStore =>

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
