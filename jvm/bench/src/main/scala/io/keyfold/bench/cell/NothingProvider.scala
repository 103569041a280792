package io.keyfold.bench.cell

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** Keeps nothing: `get` finds no row, `commit` writes no file. What a query takes with it is
  * Spark's own part, which no store can go below.
  */
final class NothingProvider extends StateStoreProvider {
  private var id: StateStoreId = _

  override def init(
      stateStoreId: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConfs: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]
  ): Unit = id = stateStoreId

  override def stateStoreId: StateStoreId = id
  override def close(): Unit = ()

  override def getStore(
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean
  ): StateStore = new NothingStore(id, version)
}

private final class NothingStore(override val id: StateStoreId, override val version: Long)
    extends StateStore {
  private var committed = false

  override def get(key: UnsafeRow, family: String): UnsafeRow = null
  override def valuesIterator(key: UnsafeRow, family: String): Iterator[UnsafeRow] = Iterator.empty
  override def iterator(family: String): StateStoreIterator[UnsafeRowPair] = nothing
  override def iteratorWithMultiValues(family: String): StateStoreIterator[UnsafeRowPair] = nothing
  override def prefixScan(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = nothing
  override def prefixScanWithMultiValues(
      prefix: UnsafeRow,
      family: String
  ): StateStoreIterator[UnsafeRowPair] = nothing

  override def put(key: UnsafeRow, value: UnsafeRow, family: String): Unit = ()
  override def putList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit = ()
  override def merge(key: UnsafeRow, value: UnsafeRow, family: String): Unit = ()
  override def mergeList(key: UnsafeRow, values: Array[UnsafeRow], family: String): Unit = ()
  override def remove(key: UnsafeRow, family: String): Unit = ()
  override def removeColFamilyIfExists(family: String): Boolean = false
  override def createColFamilyIfAbsent(
      family: String,
      keySchema: StructType,
      valueSchema: StructType,
      spec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean
  ): Unit = ()
  override def allColumnFamilyNames: Set[String] = Set(StateStore.DEFAULT_COL_FAMILY_NAME)

  override def commit(): Long = {
    committed = true
    version + 1
  }
  override def abort(): Unit = ()
  override def release(): Unit = ()
  override def hasCommitted: Boolean = committed
  override def metrics: StateStoreMetrics = StateStoreMetrics(0, 0, Map.empty, Map.empty)
  override def getStateStoreCheckpointInfo(): StateStoreCheckpointInfo =
    StateStoreCheckpointInfo(id.partitionId, version + 1, None, None)

  private def nothing = new StateStoreIterator[UnsafeRowPair](Iterator.empty)
}
