package io.keyfold.spark

import java.time.Clock
import java.util.UUID
import java.util.concurrent.Executor

import scala.util.control.NonFatal

import io.keyfold.errors.{CorruptFile, MissingFile, UnreadableVersion}
import io.keyfold.io.{IdleThreads, OnFailure}
import io.keyfold.map.arena.ArenaMap
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.spark.checkpoint.{CheckpointPath, Command, HadoopBlobStore}
import io.keyfold.spark.conf.{BuildInfo, KeyfoldConf}
import io.keyfold.spark.plan.PlannedOperators
import io.keyfold.spark.state._
import io.keyfold.store.{StoreTxn, StoreView, VersionedStore}
import io.keyfold.store.file.{RowChecksumSettings, SnapshotRepair, StoreSettings}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkShim}
import org.apache.spark.sql.types.StructType
import org.slf4j.LoggerFactory

/** Keyfold as Spark's state store provider. One instance serves one store of one partition.
  *
  * Spark makes instances freely, also on the driver and without `init`; neither the constructor nor
  * `init` touches a file, unless the key is a single column of no type: a limit has such a key, and
  * only Spark's description of the operator tells it from others.
  */
class KeyfoldStateStoreProvider
    extends LineOfSpark
    with SparkShim.Provider
    with SparkShim.Replay
    with EmptiedStores {
  import KeyfoldStateStoreProvider._

  private var id: StateStoreId = _
  private var conf: StateStoreConf = _
  private var hadoopConf: Configuration = _
  private var schemas: FamilySchemas = _
  private var store: VersionedStore = _
  private var metrics: KeyfoldMetrics = _

  override def stateStoreId: StateStoreId = id

  /** @throws io.keyfold.errors.Invalid
    *   for a setting that is unknown or out of range, and Spark's own errors for features that this
    *   release does not support
    */
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
  ): Unit = {
    require(
      useColumnFamilies || !useMultipleValuesPerKey,
      "Multiple values per key support requires column families to be enabled"
    )
    this.id = stateStoreId
    this.conf = storeConfs
    this.hadoopConf = hadoopConf
    schemas = new FamilySchemas(
      id,
      conf,
      useColumnFamilies,
      stateSchemaProvider,
      FamilyDescription(
        FamilySchemas.Default,
        keyStateEncoderSpec,
        valueSchema,
        useMultipleValuesPerKey,
        internal = false
      ),
      PlannedOperators.shuffleOf(hadoopConf, id.operatorId),
      SparkPrivate.isLimit(id, hadoopConf)
    )
    val keyfold = new KeyfoldConf(conf.sqlConfs)
    val memory = StateMemory.pool(keyfold.memoryMaxBytes)
    store = new VersionedStore(
      StoreLocation(id.operatorId, id.partitionId, id.storeName),
      settings(keyfold),
      if (useColumnFamilies) Nil else Seq(schemas.default.spec),
      new HadoopBlobStore(CheckpointPath.of(id), hadoopConf),
      Clock.systemUTC(),
      snapshotIsDurable,
      Background,
      new ArenaMap(_, memory)
    )
    metrics = new KeyfoldMetrics(id, hadoopConf.get(SparkPrivate.RunIdKey, ""), store)
  }

  override def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean
  ): StateStore = {
    loading(version) {
      val txn =
        if (loadEmpty) store.beginEmpty(VersionId(version, stateStoreCkptId.getOrElse("")))
        else store.begin(versionId(version, stateStoreCkptId))
      writeStore(txn, stateStoreCkptId, forceSnapshotOnCommit)
    }
  }

  override def getStoreAgain(version: Long, id: String): StateStore = loading(version) {
    val of = VersionId(version, id)
    val newId = of.again(UUID.randomUUID.toString).id
    writeStore(store.beginAgain(of), None, forceSnapshot = false, Some(newId))
  }

  override def getStoreEmptied(version: Long, id: String): StateStore = loading(version) {
    writeStore(store.beginEmptied(VersionId(version, id)), Some(id), forceSnapshot = false)
  }

  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore =
    loading(version) {
      readStore(store.read(versionId(version, uniqueId)))
    }

  override def replayStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      readOnly: Boolean,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]
  ): StateStore = loading(snapshotVersion) {
    val txn = store.beginReplayed(
      versionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      versionId(endVersion, endVersionStateStoreCkptId)
    )
    writeStore(txn, endVersionStateStoreCkptId, forceSnapshot = false)
  }

  override def replayReadStateFromSnapshot(
      snapshotVersion: Long,
      endVersion: Long,
      snapshotVersionStateStoreCkptId: Option[String],
      endVersionStateStoreCkptId: Option[String]
  ): ReadStateStore = loading(snapshotVersion) {
    val view = store.readReplayed(
      versionId(snapshotVersion, snapshotVersionStateStoreCkptId),
      versionId(endVersion, endVersionStateStoreCkptId)
    )
    readStore(view)
  }

  override def getStateStoreChangeDataReader(
      startVersion: Long,
      endVersion: Long,
      colFamilyNameOpt: Option[String],
      endVersionStateStoreCkptId: Option[String]
  ): SparkPrivate.ChangeIterator = loading(startVersion) {
    val end = versionId(endVersion, endVersionStateStoreCkptId)
    val family = colFamilyNameOpt.getOrElse(FamilySchemas.Default)
    val schema = schemas("getStateStoreChangeDataReader", family)
    new ChangeRows(store.changes(startVersion, end, family), schema)
  }

  /** Failures are logged, not thrown: an exception would make Spark unload the store. */
  override def doMaintenance(): Unit = {
    doSnapshotMaintenance()
    doCleanupMaintenance()
  }

  /** Called by itself since Spark 4.3, perhaps at the same time as the next one. */
  override def doSnapshotMaintenance(): Unit =
    maintain("write a snapshot of")(store.snapshotIfDue())

  override def doCleanupMaintenance(): Unit = maintain("delete old files of")(store.cleanup())

  override def close(): Unit = if (store != null) {
    metrics.close()
    store.close()
  }

  override def supportedCustomMetrics: Seq[StateStoreCustomMetric] = {
    KeyfoldExtensions.require()
    KeyfoldMetrics.custom
  }
  override def supportedInstanceMetrics: Seq[SparkShim.InstanceMetric] = SparkShim.instanceMetrics

  private def settings(keyfold: KeyfoldConf): StoreSettings = {
    val partitions = SparkShim.partitions(hadoopConf)
    StoreSettings(
      partitions = partitions,
      checksPartitions = PlannedOperators.isOfRun(hadoopConf),
      keyGroups = keyfold.keyGroups(partitions),
      codec = keyfold.codec,
      deltasPerSnapshot = math.max(conf.minDeltasForSnapshot, 1),
      deltaBytesPerSnapshot = keyfold.snapshotAfterDeltaBytes,
      snapshotAfterShare = keyfold.snapshotAfterShare,
      repair = SnapshotRepair(
        SparkShim.repairsSnapshots(conf),
        SparkShim.failuresBeforeRepair(conf).max(1).min(MostTriesOfSnapshot),
        SparkShim.changesInRepair(conf)
      ),
      rowChecksums = SparkShim.rowChecksums(conf).map(RowChecksumSettings(_)),
      versionsToRetain = conf.minVersionsToRetain,
      versionsPerCleanup = math.max(conf.minVersionsToDelete, 1L),
      deletesPerCleanup = Some(SparkShim.deletesPerMaintenance(conf))
        .filter(_ > 0)
        .getOrElse(Int.MaxValue),
      versionsInMemory = math.max(conf.maxVersionsToRetainInMemory, MinVersionsInMemory),
      writer = s"keyfold ${BuildInfo.version} spark ${org.apache.spark.SPARK_VERSION}",
      lazyFromBytes = StoreSettings.LazyFromBytes
    )
  }

  private def newId = Option.when(conf.enableStateStoreCheckpointIds)(UUID.randomUUID.toString)

  private def writeStore(
      txn: StoreTxn,
      baseId: Option[String],
      forceSnapshot: Boolean,
      attempt: Option[String] = newId
  ) = OnFailure(txn.release()) {
    // A join or transformWithState declares a default family in several ways and does not use it.
    if (!txn.families.exists(_.spec.name == FamilySchemas.Default)) {
      txn.createFamily(schemas.default.spec)
    }
    new KeyfoldStateStore(id, txn, schemas, baseId, attempt, forceSnapshot, committed, metrics.of)
  }

  private def readStore(view: StoreView) =
    OnFailure(view.release())(new KeyfoldReadStore(id, view, schemas))

  /** Under checkpoint format v1, and for version 0, Spark passes no id. */
  private def versionId(version: Long, checkpointId: Option[String]) = {
    if (checkpointId.isEmpty) SparkShim.requireNoId(version, conf)
    VersionId(version, checkpointId.getOrElse(""))
  }

  private def loading[T](version: Long)(body: => T): T = {
    if (version < 0) throw SparkPrivate.unexpectedVersion(version)
    try body
    catch {
      case e: MissingFile => throw SparkPrivate.cannotRead(e.path, e, adviceOnDamage)
      case e @ (_: CorruptFile | _: UnreadableVersion) =>
        throw SparkPrivate.cannotLoad(e, Some(adviceOnDamage))
      case NonFatal(e) => throw SparkPrivate.cannotLoad(e)
    }
  }

  /** One store does not know which batch is whole in all of them. */
  private def adviceOnDamage = {
    val checkpoint = CheckpointPath.of(id)
    s"To see which batch is whole in all partitions, and how to go back to it, run " +
      s"`${Command.fsck(checkpoint.toString)}`."
  }

  private def committed(version: Long): Unit =
    SparkShim.reportCommit(id, version, conf, hadoopConf)

  private def snapshotIsDurable(version: VersionId): Unit = {
    metrics.lastSnapshotVersion.accumulateAndGet(version.version, math.max(_, _))
    maintain("report a snapshot of") {
      SparkShim.reportSnapshot(id, version.version, conf, hadoopConf)
    }
  }

  private def maintain(what: String)(body: => Any): Unit =
    try {
      body
      ()
    } catch {
      case NonFatal(e) => log.warn(s"Cannot $what $id, retrying later", e)
    }
}

object KeyfoldStateStoreProvider {
  private val log = LoggerFactory.getLogger(classOf[KeyfoldStateStoreProvider])

  /** Maintenance of all stores of this JVM that is due when they are loaded, one store after the
    * other, so that many stores do not take the tasks' cores, memory and bandwidth at once.
    */
  private[spark] val Background: Executor = IdleThreads("keyfold-maintenance", most = 1)

  /** The newest version and the one before it, of which maintenance writes snapshots. */
  private val MinVersionsInMemory = 2

  /** Damage is permanent; reads that failed temporarily have been retried by then. */
  private val MostTriesOfSnapshot = 10
}
