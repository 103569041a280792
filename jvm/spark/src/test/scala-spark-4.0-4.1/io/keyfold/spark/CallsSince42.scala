package io.keyfold.spark

import io.keyfold.spark.state.{FamilyReads, KeyfoldStateStore}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim

/** The methods of Spark 4.2 that Keyfold's classes have here too, and Spark's do not. */
trait CallsSince42 {
  private val Default = StateStore.DEFAULT_COL_FAMILY_NAME

  implicit class ProviderCalls(provider: StateStoreProvider) {
    def getStore(
        version: Long,
        id: Option[String],
        forceSnapshotOnCommit: Boolean = false,
        loadEmpty: Boolean = false
    ): StateStore = provider
      .asInstanceOf[SparkShim.Provider]
      .getStore(version, id, forceSnapshotOnCommit, loadEmpty)
  }

  implicit class ReadCalls(store: ReadStateStore) {
    private def own = store.asInstanceOf[FamilyReads]

    def allColumnFamilyNames: Set[String] = own.allColumnFamilyNames

    def keyExists(key: UnsafeRow, family: String = Default): Boolean = own.keyExists(key, family)

    def multiGet(keys: Array[UnsafeRow], family: String): Iterator[UnsafeRow] =
      own.multiGet(keys, family)

    def iteratorWithMultiValues(family: String): StateStoreIterator[UnsafeRowPair] =
      own.iteratorWithMultiValues(family)

    def prefixScanWithMultiValues(
        prefix: UnsafeRow,
        family: String
    ): StateStoreIterator[UnsafeRowPair] = own.prefixScanWithMultiValues(prefix, family)

    def rangeScan(
        start: Option[UnsafeRow],
        end: Option[UnsafeRow],
        family: String = Default
    ): StateStoreIterator[UnsafeRowPair] = own.rangeScan(start, end, family)

    def rangeScanWithMultiValues(
        start: Option[UnsafeRow],
        end: Option[UnsafeRow],
        family: String
    ): StateStoreIterator[UnsafeRowPair] = own.rangeScanWithMultiValues(start, end, family)
  }

  implicit class WriteCalls(store: StateStore) {
    def deleteRange(begin: UnsafeRow, end: UnsafeRow, family: String = Default): Unit =
      store.asInstanceOf[KeyfoldStateStore].deleteRange(begin, end, family)
  }
}
