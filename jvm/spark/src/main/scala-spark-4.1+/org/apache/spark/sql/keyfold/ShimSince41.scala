package org.apache.spark.sql.keyfold

import java.util.UUID

import scala.annotation.unused

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.memory._
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorsUtils
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** What Spark 4.1 and later have in common: stores' reports to the driver and to the memory
  * manager, and what 4.0 has another form of.
  */
private[keyfold] trait ShimSince41 extends SparkNames {
  type Replay = SupportsFineGrainedReplay
  type InstanceMetric = StateStoreInstanceMetric
  type ClosableFileManager = CheckpointFileManager

  /** Names that transformWithState has in the metadata of operators. */
  def transformWithStateNames: Seq[String] =
    StatefulOperatorsUtils.TRANSFORM_WITH_STATE_OP_NAMES

  /** Setting that passes the number of partitions of a query's state to executors. */
  val PartitionsKey: String = SQLConf.STATEFUL_SHUFFLE_PARTITIONS_INTERNAL.key

  /** Number of partitions of the run's state; 0 if not known. */
  def partitions(conf: Configuration): Int = conf.getInt(PartitionsKey, 0)

  /** Whether an operator that has all rows in one task can have an id of its state. */
  val oneTaskCanHaveIds: Boolean = true

  def close(manager: CheckpointFileManager): Unit = manager.close()

  /** Number of files that one round of maintenance may delete; 0 or less: any. */
  def deletesPerMaintenance(conf: StateStoreConf): Int = conf.maxVersionsToDeletePerMaintenance

  /** Registers off-heap memory, in bytes, with Spark's memory manager, which polls it. */
  def registerMemory(used: () => Long): Unit =
    UnifiedMemoryManager.registerUnmanagedMemoryConsumer(new UnmanagedMemoryConsumer {
      override def unmanagedMemoryConsumerId: UnmanagedMemoryConsumerId =
        UnmanagedMemoryConsumerId("Keyfold", "shared")
      override def memoryMode: MemoryMode = MemoryMode.OFF_HEAP
      override def getMemBytesUsed: Long = used()
    })

  /** Reports a committed version to the driver, which checks it under `foreachBatch`. */
  def reportCommit(
      id: StateStoreId,
      version: Long,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): Unit =
    if (conf.commitValidationEnabled) {
      StateStore.reportCommitToCoordinator(version, id, hadoopConf)
    }

  /** Reports a durable snapshot to the driver; without the report Spark forces a snapshot at every
    * batch.
    */
  def reportSnapshot(
      id: StateStoreId,
      version: Long,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): Unit =
    for (env <- Option(SparkEnv.get) if conf.reportSnapshotUploadLag) {
      val runId = hadoopConf.get(SparkPrivate.RunIdKey)
      val provider = StateStoreProviderId(id, UUID.fromString(runId))
      StateStoreCoordinatorRef
        .forExecutor(env)
        .snapshotUploaded(provider, version, System.currentTimeMillis())
    }

  /** For stores of no query: the driver takes reports only once the application has run one. */
  def withoutReports(conf: SQLConf): Unit = {
    conf.setConf(SQLConf.STATE_STORE_COMMIT_VALIDATION_ENABLED, false)
    conf.setConf(SQLConf.STATE_STORE_COORDINATOR_REPORT_SNAPSHOT_UPLOAD_LAG, false)
  }

  private val lastSnapshot = StateStoreSnapshotLastUploadInstanceMetric()

  val instanceMetrics: Seq[InstanceMetric] = Seq(lastSnapshot)

  /** @param snapshot
    *   newest version of the store that has a durable snapshot; -1 if none
    */
  def metrics(
      keys: Long,
      bytes: Long,
      custom: Map[StateStoreCustomMetric, Long],
      id: StateStoreId,
      snapshot: Long
  ): StateStoreMetrics = StateStoreMetrics(
    keys,
    bytes,
    custom,
    Map(lastSnapshot.withNewId(id.partitionId, id.storeName) -> snapshot)
  )

  /** Throws Spark's error if a row does not fit its schema. */
  def validate(
      key: UnsafeRow,
      keySchema: StructType,
      value: UnsafeRow,
      valueSchema: StructType,
      id: StateStoreId,
      conf: StateStoreConf
  ): Unit = StateStoreProvider.validateStateRowFormat(key, keySchema, value, valueSchema, id, conf)

  /** Whoever reads a version knows its id, if it has one. */
  def requireNoId(@unused version: Long, @unused conf: StateStoreConf): Unit = ()

  def cannotLoad(cause: Throwable): Throwable = StateStoreErrors.cannotLoadStore(cause)
}
