package io.keyfold.conformance

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** Cannot be built. A test that passes with it does not come to the configured provider. */
class RefusingProvider extends StateStoreProvider {
  refuse()

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
  ): Unit = ???
  override def stateStoreId: StateStoreId = ???
  override def close(): Unit = ???
  // A line of Spark has one of these two.
  def getStore(version: Long, uniqueId: Option[String]): StateStore = ???
  def getStore(
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean
  ): StateStore = ???

  private def refuse(): Unit =
    throw new UnsupportedOperationException("this provider refuses to be built")
}
