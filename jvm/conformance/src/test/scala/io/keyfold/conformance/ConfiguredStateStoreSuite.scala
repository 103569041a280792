package io.keyfold.conformance

import java.nio.file.{Files, Path}
import java.util.UUID

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.SparkPrivate
import org.apache.spark.sql.types.StructType
import org.scalatest.BeforeAndAfter

/** Spark's contract suite for providers. Each test comes twice, with and without column families;
  * as in Spark's own subclass, that makes no difference for HDFSBacked.
  */
class ConfiguredStateStoreSuite
    extends StateStoreSuiteBase[StateStoreProvider]
    with BeforeAndAfter {
  import StateStoreTestsHelper._

  /** A delta or snapshot of Keyfold or HDFSBacked, a changelog or snapshot of RocksDB. */
  private val VersionFile = """(\d+)\.(?:delta|snapshot|changelog|zip)""".r

  // Maintenance that an earlier test has started would go on with that test's interval.
  before(StateStore.stop())
  after(StateStore.stop())

  override def newStoreProvider(): StateStoreProvider = provider(newId())

  override def newStoreProvider(id: StateStoreId): StateStoreProvider = provider(id)

  override def newStoreProvider(
      id: StateStoreId,
      useColumnFamilies: Boolean
  ): StateStoreProvider = provider(id, useColumnFamilies = useColumnFamilies)

  override def newStoreProvider(
      id: StateStoreId,
      conf: Configuration
  ): StateStoreProvider = provider(id, hadoopConf = conf)

  override def newStoreProvider(
      minDeltasForSnapshot: Int,
      versionsInMemory: Int
  ): StateStoreProvider =
    provider(newId(), getDefaultSQLConf(minDeltasForSnapshot, versionsInMemory))

  override def newStoreProvider(
      keySchema: StructType,
      spec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean
  ): StateStoreProvider =
    provider(newId(), keys = keySchema, spec = Some(spec), useColumnFamilies = useColumnFamilies)

  override def newStoreProvider(useColumnFamilies: Boolean): StateStoreProvider =
    provider(newId(), useColumnFamilies = useColumnFamilies)

  // Spark 4.0's suite has neither of these two.
  def newStoreProviderWithClonedConf(id: StateStoreId): StateStoreProvider =
    provider(id, SQLConf.get.clone())

  def newStoreProviderNoInit(): StateStoreProvider = ConfiguredProvider.make()

  override def getLatestData(
      provider: StateStoreProvider,
      useColumnFamilies: Boolean
  ): Set[((String, Int), Int)] =
    getData(provider, newestVersion(provider.stateStoreId), useColumnFamilies)

  override def getData(
      provider: StateStoreProvider,
      version: Int,
      useColumnFamilies: Boolean
  ): Set[((String, Int), Int)] =
    tryWithProviderResource(newStoreProvider(provider.stateStoreId, useColumnFamilies)) { other =>
      val store = other.getReadStore(version.toLong)
      try store.iterator().map(rowPairToDataPair).toSet
      finally store.abort()
    }

  override def getDefaultSQLConf(minDeltasForSnapshot: Int, versionsInMemory: Int): SQLConf = {
    val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT, minDeltasForSnapshot)
    conf.setConf(SQLConf.MAX_BATCHES_TO_RETAIN_IN_MEMORY, versionsInMemory)
    conf.setConf(SQLConf.MIN_BATCHES_TO_RETAIN, 2)
    conf
  }

  private def newId() =
    StateStoreId(
      Files.createTempDirectory("keyfold").resolve("state").toString,
      Random.nextInt().toLong,
      0
    )

  private def provider(
      id: StateStoreId,
      conf: SQLConf = getDefaultSQLConf(
        SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.defaultValue.get,
        SQLConf.MAX_BATCHES_TO_RETAIN_IN_MEMORY.defaultValue.get
      ),
      keys: StructType = keySchema,
      spec: Option[KeyStateEncoderSpec] = None,
      hadoopConf: Configuration = new Configuration,
      useColumnFamilies: Boolean = false
  ): StateStoreProvider = {
    hadoopConf.set(SparkPrivate.RunIdKey, UUID.randomUUID.toString)
    val provider = ConfiguredProvider.make()
    provider.init(
      id,
      keys,
      valueSchema,
      spec.getOrElse(NoPrefixKeyStateEncoderSpec(keys)),
      useColumnFamilies && !ConfiguredProvider.isHdfsBacked,
      new StateStoreConf(conf),
      hadoopConf,
      useMultipleValuesPerKey = false,
      None
    )
    provider
  }

  private def newestVersion(id: StateStoreId): Int = {
    val folder = Path.of(id.storeCheckpointLocation().toUri.getPath)
    if (!Files.isDirectory(folder)) 0
    else {
      folder.toFile
        .list()
        .toSeq
        .collect { case VersionFile(version) => version.toInt }
        .maxOption
        .getOrElse(0)
    }
  }
}
