package org.apache.spark.sql.keyfold

import java.io.FileNotFoundException

import scala.jdk.CollectionConverters._

import io.keyfold.errors.Invalid
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.SparkException
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.datasources.v2.state.StateDataSourceErrors
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** What Spark 4.0 and 4.1 have in common: what they lack of 4.2. */
private[keyfold] trait ShimBefore42 extends SparkNames with ShimBefore43 {
  type ReadStore = ReadStoreBefore42
  type WriteStore = WriteStoreBefore42
  type OffsetEntry = OffsetSeq
  type OffsetMetadata = OffsetSeqMetadata
  type CommitEntry = CommitMetadata

  /** Joins of format 4 came later. */
  def joinLists: Set[String] = Set.empty

  /** The checkpoint format under which a query continues a checkpoint of `format` when `wanted` is
    * set; None if Spark refuses to.
    */
  def continuesUnder(format: Int, wanted: Int): Option[Int] =
    Option.when(format == wanted)(format)

  def startsTransformWithState: Boolean = false

  def timestampKey(spec: KeyStateEncoderSpec): (StructType, Boolean) =
    throw new IllegalArgumentException(s"Unknown key encoder $spec")

  /** Whether the keys of a deduplication have one zero and one NaN, as those of aggregates have. */
  def normalizesDuplicates: Boolean = false

  def emptyStore(provider: StateStoreProvider, version: Long): StateStore = provider match {
    case it: ProviderBefore42 =>
      it.getStore(version, None, forceSnapshotOnCommit = false, loadEmpty = true)
    case other => throw new IllegalArgumentException(s"$other cannot begin with an empty store")
  }

  /** Column families that RocksDB's files of the version taken last have; it does not tell itself.
    */
  def familyNames(provider: StateStoreProvider): Set[String] = provider match {
    case it: RocksDBStateStoreProvider =>
      val field = classOf[RocksDB].getDeclaredField("colFamilyNameToInfoMap")
      field.setAccessible(true)
      field.get(it.rocksDB).asInstanceOf[java.util.Map[String, _]].keySet.asScala.toSet
    case _ => Set.empty
  }

  /** A pair for each value. */
  def allValues(store: StateStore, family: String): Iterator[UnsafeRowPair] =
    store.iterator(family).flatMap { first =>
      val key = first.key.copy()
      store.valuesIterator(key, family).map(new UnsafeRowPair(key, _))
    }

  /** Settings of later lines, which count here too: errors of a load name them. Spark hands on all
    * settings of state stores, known to it or not.
    */
  def repairsSnapshots(conf: StateStoreConf): Boolean =
    inRepair(conf, "enabled", default = true)(_.toBooleanOption)
  def failuresBeforeRepair(conf: StateStoreConf): Int =
    inRepair(conf, "numFailuresBeforeActivating", default = 1)(_.toIntOption)
  def changesInRepair(conf: StateStoreConf): Int =
    inRepair(conf, "maxChangeFileReplay", default = 500)(_.toIntOption)

  private def inRepair[T](conf: StateStoreConf, name: String, default: T)(
      parse: String => Option[T]
  ): T = {
    val key = s"spark.sql.streaming.stateStore.autoSnapshotRepair.$name"
    conf.sqlConfs.get(key).fold(default) { text =>
      parse(text.trim).getOrElse(
        throw new Invalid(
          "KEYFOLD_INVALID_SETTING",
          s"Invalid $key: it must be like $default, not $text"
        )
      )
    }
  }

  /** Stores of later lines may have checksums, which are verified when files are read. */
  def rowChecksums(conf: StateStoreConf): Option[Long] = None

  def wrongChecksum(store: String, expected: Int, computed: Int): Throwable = new SparkException(
    s"Row checksum verification failed for $store: expected $expected, computed $computed.",
    cause = null
  )

  def offsetLog(session: SparkSession, path: Path): Option[OffsetSeqLog] =
    Option.when(exists(session, path))(new OffsetSeqLog(session, path.toString))

  def commitLog(session: SparkSession, path: Path): Option[CommitLog] =
    Option.when(exists(session, path))(new CommitLogOfBothVersions(session, path))

  /** Here Spark's logs make their folders, also where there is no checkpoint. */
  private def exists(session: SparkSession, path: Path) =
    CheckpointFileManager.create(path, session.sessionState.newHadoopConf()).exists(path)

  def metadata(entry: OffsetEntry): Option[OffsetMetadata] = entry.metadata

  /** The same entry of the offset log with changed settings. */
  def withSettings(offsets: OffsetEntry, by: Map[String, String]): OffsetEntry =
    offsets.copy(metadata = offsets.metadata.map(it => it.copy(conf = it.conf ++ by)))

  /** The same entry of the commit log with other ids. */
  def withIds(
      commit: CommitEntry,
      ids: Map[Long, Array[Array[String]]]
  ): CommitEntry = commit.copy(stateUniqueIds = Some(ids))

  /** The operators of a checkpoint as of a batch; none if they have no metadata. (Spark's own
    * method says that there are none after any failure to read them.)
    */
  def operators(
      checkpoint: String,
      conf: Configuration,
      batch: Long
  ): Seq[OperatorStateMetadata] = {
    val state = new Path(checkpoint, "state")
    val files = CheckpointFileManager.create(state, conf)
    try
      files.list(state).toSeq.flatMap(_.getPath.getName.toLongOption).sorted.map { id =>
        val folder = new Path(state, id.toString)
        val version = if (files.exists(OperatorStateMetadataV2.metadataDirPath(folder))) 2 else 1
        OperatorStateMetadataReader
          .createReader(folder, conf, version, batch)
          .read()
          .getOrElse(throw StateDataSourceErrors.failedToReadOperatorMetadata(checkpoint, batch))
      }
    catch { case _: FileNotFoundException => Nil }
  }

  def stores(operator: OperatorStateMetadata): Seq[StateStoreMetadata] =
    operator match {
      case v1: OperatorStateMetadataV1 => v1.stateStoreInfo.toSeq
      case v2: OperatorStateMetadataV2 => v2.stateStoreInfo.toSeq
      case other => throw new IllegalStateException(s"Unknown operator metadata: $other")
    }

  /** Reads the schema files of a store. */
  def schemas(
      of: StateStoreProviderId,
      files: List[Path],
      conf: Configuration
  ): List[StateStoreColFamilySchema] =
    new StateSchemaCompatibilityChecker(of, conf, files).readSchemaFile()
}

/** With the method of later lines for which Spark calls the shorter one here. */
trait ProviderBefore42 extends ProviderBefore43 {
  def getStore(
      version: Long,
      stateStoreCkptId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean
  ): StateStore

  override def getStore(version: Long, stateStoreCkptId: Option[String]): StateStore =
    getStore(version, stateStoreCkptId, forceSnapshotOnCommit = false, loadEmpty = false)
}

/** With the methods of later lines that are not abstract there. */
trait ReadStoreBefore42 extends ReadStoreBefore43 {
  def multiGet(keys: Array[UnsafeRow], family: String): Iterator[UnsafeRow]
  def keyExists(key: UnsafeRow, family: String): Boolean
  def rangeScan(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair]
  def rangeScanWithMultiValues(
      start: Option[UnsafeRow],
      end: Option[UnsafeRow],
      family: String
  ): StateStoreIterator[UnsafeRowPair]
}

/** With the method of later lines that is not abstract there. */
trait WriteStoreBefore42 extends StateStore {
  def deleteRange(begin: UnsafeRow, end: UnsafeRow, family: String): Unit
}
