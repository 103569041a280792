package org.apache.spark.sql.keyfold

import scala.annotation.unused

import io.keyfold.errors.Invalid
import org.apache.hadoop.conf.Configuration
import org.apache.spark.{SPARK_VERSION, TaskContext}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.errors.QueryExecutionErrors
import org.apache.spark.sql.execution.streaming.CheckpointFileManager
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.NextIterator

/** Names, places and types that differ in other Spark lines. */
object SparkShim extends ShimBefore42 {
  type Provider = ProviderIn40
  type Replay = ReplayIn40
  type ClosableFileManager = FileManagerIn40

  /** There are no metrics of single stores. */
  type InstanceMetric = Nothing
  val instanceMetrics: Seq[InstanceMetric] = Nil

  /** Names that transformWithState has in the metadata of operators. */
  def transformWithStateNames: Seq[String] =
    Seq("transformWithStateExec", "transformWithStateInPandasExec")

  /** Whether an operator that has all rows in one task can have an id of its state. */
  val oneTaskCanHaveIds: Boolean = false

  /** Setting of later lines, which here only Keyfold itself sets. */
  val PartitionsKey = "spark.sql.streaming.internal.stateStore.partitions"

  /** Number of partitions of the run's state; 0 if not known. Without the extension it is the
    * session's number in a task: elsewhere the session is another.
    */
  def partitions(conf: Configuration): Int = {
    val ofSession = SQLConf.SHUFFLE_PARTITIONS
    conf.getInt(
      PartitionsKey,
      if (TaskContext.get() == null) 0 else conf.getInt(ofSession.key, ofSession.defaultValue.get)
    )
  }

  def close(manager: CheckpointFileManager): Unit = manager match {
    case it: FileManagerIn40 => it.close()
    case _                   => ()
  }

  /** Any number. */
  def deletesPerMaintenance(conf: StateStoreConf): Int = 0

  /** The memory manager asks for none. */
  def registerMemory(used: () => Long): Unit = ()

  /** The driver asks for no reports. */
  def reportCommit(
      id: StateStoreId,
      version: Long,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): Unit = ()

  def reportSnapshot(
      id: StateStoreId,
      version: Long,
      conf: StateStoreConf,
      hadoopConf: Configuration
  ): Unit = ()

  def withoutReports(conf: SQLConf): Unit = ()

  def metrics(
      keys: Long,
      bytes: Long,
      custom: Map[StateStoreCustomMetric, Long],
      @unused id: StateStoreId,
      @unused snapshot: Long
  ): StateStoreMetrics = StateStoreMetrics(keys, bytes, custom)

  /** Throws Spark's error if a row does not fit its schema. */
  def validate(
      key: UnsafeRow,
      keySchema: StructType,
      value: UnsafeRow,
      valueSchema: StructType,
      @unused id: StateStoreId,
      conf: StateStoreConf
  ): Unit = StateStoreProvider.validateStateRowFormat(key, keySchema, value, valueSchema, conf)

  /** Queries know the ids of versions; the `statestore` source does not, here.
    *
    * @throws io.keyfold.errors.Invalid
    *   if a version without an id can only be one whose id is not known
    */
  def requireNoId(version: Long, conf: StateStoreConf): Unit =
    if (version > 0 && conf.enableStateStoreCheckpointIds) {
      throw new Invalid(
        "KEYFOLD_STATE_SOURCE",
        s"Spark $SPARK_VERSION's `statestore` source cannot read checkpoints of format 2, whose files are " +
          "named by ids that it does not know. Read the checkpoint with Keyfold's Python package " +
          "or the `keyfold` command, which need no Spark, or with the source of Spark 4.1 or later."
      )
    }

  def cannotLoad(cause: Throwable): Throwable = QueryExecutionErrors.cannotLoadStore(cause)
}

/** With the method of later lines. */
trait FileManagerIn40 extends CheckpointFileManager {
  def close(): Unit
}

/** With the method of later lines. */
trait ProviderIn40 extends ProviderBefore42 {
  def supportedInstanceMetrics: Seq[SparkShim.InstanceMetric]
}

/** With the methods of later lines for which Spark calls those without ids here. */
trait ReplayIn40 extends SupportsFineGrainedReplay {
  def replayStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      readOnly: Boolean,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]
  ): StateStore

  def replayReadStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]
  ): ReadStateStore

  def getStateStoreChangeDataReader(
      startVersion: Long,
      endVersion: Long,
      colFamilyNameOpt: Option[String],
      endVersionStateStoreCkptId: Option[String]
  ): NextIterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)]

  override def replayStateFromSnapshot(snapshotVersion: Long, endVersion: Long): StateStore =
    replayStateFromSnapshot(snapshotVersion, endVersion, readOnly = false, None, None)

  override def replayReadStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long
  ): ReadStateStore = replayReadStateFromSnapshot(snapshotVersion, endVersion, None, None)

  override def getStateStoreChangeDataReader(
      startVersion: Long,
      endVersion: Long,
      colFamilyNameOpt: Option[String]
  ): NextIterator[(RecordType.Value, UnsafeRow, UnsafeRow, Long)] =
    getStateStoreChangeDataReader(startVersion, endVersion, colFamilyNameOpt, None)
}
