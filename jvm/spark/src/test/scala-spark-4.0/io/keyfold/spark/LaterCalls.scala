package io.keyfold.spark

import io.keyfold.spark.state.{FamilyReads, KeyfoldStateStore}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._

/** The methods of later lines. */
trait LaterCalls extends CallsSince42 {
  private val Default = StateStore.DEFAULT_COL_FAMILY_NAME

  implicit class UpgradeCall(provider: StateStoreProvider) {

    /** As tasks do it here: the read store stays open beside the write store. */
    def upgradeReadStoreToWriteStore(read: ReadStateStore, version: Long): StateStore = {
      require(read.version == version)
      provider.getStore(version)
    }
  }

  implicit class ReleaseCall(store: ReadStateStore) {
    def release(): Unit = store.asInstanceOf[FamilyReads].release()
  }

  implicit class ListCalls(store: StateStore) {
    private def own = store.asInstanceOf[KeyfoldStateStore]

    def putList(key: UnsafeRow, values: Array[UnsafeRow], family: String = Default): Unit =
      own.putList(key, values, family)

    def mergeList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit =
      own.mergeList(key, values, family)
  }
}
