package org.apache.spark.sql.keyfold

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.datasources.v2.state.metadata.StateMetadataPartitionReader
import org.apache.spark.sql.execution.streaming.checkpointing
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper.{
  LeftSide,
  RightSide
}
import org.apache.spark.sql.execution.streaming.operators.stateful.join.SymmetricHashJoinStateManager
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExecBase
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** What Spark 4.2 and later have in common. */
private[keyfold] trait ShimSince42 extends ShimSince41 {
  type WriteStore = StateStore
  type OffsetEntry = checkpointing.OffsetSeqBase
  type OffsetMetadata = checkpointing.OffsetSeqMetadataBase
  type CommitEntry = checkpointing.CommitMetadataBase

  /** Families of joins of format 4, which have several values for a key. */
  def joinLists: Set[String] =
    SymmetricHashJoinStateManager.allStateStoreNamesV4(LeftSide, RightSide).toSet

  /** Whether this thread is about to run transformWithState as a streaming query. */
  def startsTransformWithState: Boolean = {
    val frames = StackWalker.getInstance.walk(_.map[String](_.getClassName).toArray)
    def has(name: String) = frames.contains(name)
    has(classOf[TransformWithStateExecBase].getName) && has(classOf[MicroBatchExecution].getName)
  }

  /** The key's schema for an encoder that is neither for whole keys nor for prefixes or ranges, and
    * whether it writes the event time ahead of the other columns.
    */
  def timestampKey(spec: KeyStateEncoderSpec): (StructType, Boolean) = spec match {
    case TimestampAsPrefixKeyStateEncoderSpec(schema)  => (schema, true)
    case TimestampAsPostfixKeyStateEncoderSpec(schema) => (schema, false)
    case other => throw new IllegalArgumentException(s"Unknown key encoder $other")
  }

  /** Whether the keys of a deduplication have one zero and one NaN, as those of aggregates have. */
  def normalizesDuplicates: Boolean = true

  /** An empty store at a version, whatever the version has in files. */
  def emptyStore(provider: StateStoreProvider, version: Long): StateStore =
    provider.getStore(version, None, loadEmpty = true)

  /** Column families that RocksDB's files of the version taken last have. */
  def familyNames(provider: StateStoreProvider): Set[String] = provider match {
    case it: RocksDBStateStoreProvider => it.rocksDB.allColumnFamilyNames
    case _                             => Set.empty
  }

  /** A pair for each value. */
  def allValues(store: StateStore, family: String): Iterator[UnsafeRowPair] =
    store.iteratorWithMultiValues(family)

  def repairsSnapshots(conf: StateStoreConf): Boolean = conf.autoSnapshotRepairEnabled

  /** Number of failures after which a snapshot is repaired. */
  def failuresBeforeRepair(conf: StateStoreConf): Int =
    conf.autoSnapshotRepairNumFailuresBeforeActivating

  /** Maximum number of change files read in a repair. */
  def changesInRepair(conf: StateStoreConf): Int = conf.autoSnapshotRepairMaxChangeFileReplay

  /** Of how many rows that are read one is verified, 0: none; None without checksums of rows. */
  def rowChecksums(conf: StateStoreConf): Option[Long] =
    Option.when(conf.rowChecksumEnabled)(conf.rowChecksumReadVerificationRatio)

  def wrongChecksum(store: String, expected: Int, computed: Int): Throwable =
    StateStoreErrors.rowChecksumVerificationFailed(store, expected, computed)

  /** The offset log, if there is one. */
  def offsetLog(session: SparkSession, path: Path): Option[OffsetSeqLog] =
    Some(new OffsetSeqLog(session, path.toString, readOnly = true))

  /** The commit log, if there is one. */
  def commitLog(session: SparkSession, path: Path): Option[CommitLog] =
    Some(new CommitLog(session, path.toString, readOnly = true))

  def metadata(entry: OffsetEntry): Option[OffsetMetadata] = entry.metadataOpt

  /** The same entry of the offset log with changed settings. */
  def withSettings(offsets: OffsetEntry, by: Map[String, String]): OffsetEntry =
    offsets match {
      case v1: OffsetSeq =>
        v1.copy(metadataOpt = v1.metadataOpt.map(m => m.copy(conf = m.conf ++ by)))
      case v2: checkpointing.OffsetMap =>
        v2.copy(metadata = v2.metadata.copy(conf = v2.metadata.conf ++ by))
      case other => throw new IllegalStateException(s"Unknown offset log entry: $other")
    }

  /** The same entry of the commit log with other ids. */
  def withIds(
      commit: CommitEntry,
      ids: Map[Long, Array[Array[String]]]
  ): CommitEntry = commit match {
    case v1: checkpointing.CommitMetadata =>
      checkpointing.CommitMetadataV2(v1.nextBatchWatermarkMs, Some(ids))
    case later => later.withStateUniqueIds(Some(ids))
  }

  /** The operators of a checkpoint as of a batch; none if they have no metadata. */
  def operators(checkpoint: String, conf: Configuration, batch: Long): Seq[OperatorStateMetadata] =
    new StateMetadataPartitionReader(
      checkpoint,
      new SerializableConfiguration(conf),
      batch
    ).allOperatorStateMetadata.toSeq

  def stores(operator: OperatorStateMetadata): Seq[StateStoreMetadata] =
    operator.stateStoresMetadata

  /** Reads the schema files of a store; creates no folder. */
  def schemas(
      of: StateStoreProviderId,
      files: List[Path],
      conf: Configuration
  ): List[StateStoreColFamilySchema] =
    new StateSchemaCompatibilityChecker(of, conf, files, createSchemaDir = false).readSchemaFile()
}
