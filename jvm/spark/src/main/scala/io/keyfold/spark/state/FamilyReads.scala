package io.keyfold.spark.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim

/** Methods shared by read and write stores. */
private[spark] trait FamilyReads extends SparkShim.ReadStore {
  protected def families: StoreFamilies

  override def get(key: UnsafeRow, family: String): UnsafeRow = families("get", family).get(key)

  override def keyExists(key: UnsafeRow, family: String): Boolean =
    families("keyExists", family).contains(key)

  override def multiGet(keys: Array[UnsafeRow], family: String): Iterator[UnsafeRow] = {
    val rows = families("multiGet", family)
    keys.iterator.map(rows.get)
  }

  override def valuesIterator(key: UnsafeRow, family: String): Iterator[UnsafeRow] =
    families("valuesIterator", family).valuesOf(key)

  override def iterator(family: String): StateStoreIterator[UnsafeRowPair] =
    families("iterator", family).iterator()

  override def iteratorWithMultiValues(family: String): StateStoreIterator[UnsafeRowPair] =
    families("iteratorWithMultiValues", family).iteratorOfAll()

  override def prefixScan(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = families("prefixScan", family).prefixScan(prefix)

  override def prefixScanWithMultiValues(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] =
    families("prefixScanWithMultiValues", family).prefixScanOfAll(prefix)

  override def rangeScan(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair] = families("rangeScan", family).rangeScan(start, end)

  override def rangeScanWithMultiValues(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair] =
    families("rangeScanWithMultiValues", family).rangeScanOfAll(start, end)

  override def allColumnFamilyNames: Set[String] = families.names
}
