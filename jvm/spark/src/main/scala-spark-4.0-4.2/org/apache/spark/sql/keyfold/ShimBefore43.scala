package org.apache.spark.sql.keyfold

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** What lines before Spark 4.3 have in common. */
private[keyfold] trait ShimBefore43 {

  /** A metric that is a number of things as of now; stores' numbers are added up. */
  def currentCount(name: String, description: String): StateStoreCustomMetric =
    StateStoreCustomSumMetric(name, description)

  /** A metric that is a size in bytes as of now; stores' sizes are added up. */
  def currentSize(name: String, description: String): StateStoreCustomMetric =
    StateStoreCustomSizeMetric(name, description)
}

/** With the two halves of maintenance, which later lines start apart. */
trait ProviderBefore43 extends StateStoreProvider {
  def doSnapshotMaintenance(): Unit
  def doCleanupMaintenance(): Unit
}

/** With the method of later lines. */
trait ReadStoreBefore43 extends ReadStateStore {
  def registerColFamily(
      name: String,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useMultipleValuesPerKey: Boolean,
      isInternal: Boolean
  ): Unit
}
