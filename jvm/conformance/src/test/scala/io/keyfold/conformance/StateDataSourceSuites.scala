package io.keyfold.conformance

import org.apache.spark.sql.execution.datasources.v2.state.{
  StateDataSourceChangeDataReaderSuite,
  StateDataSourceReadSuite
}
import org.apache.spark.sql.internal.SQLConf

/** Spark's `statestore` source reading the state of the configured provider: any version, and
  * replay from a snapshot.
  */
class ConfiguredStateDataSourceReadSuite extends StateDataSourceReadSuite with JoinSnapshots {
  override protected def newStateStoreProvider() = ConfiguredProvider.make()

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, ConfiguredProvider.className)
    spark.conf.set(StateDataSourceSuites.RocksDbChangelog, true)
    // A snapshot at every other version, as the tests below expect; HDFSBacked does not count the newest delta.
    val deltas = if (ConfiguredProvider.isHdfsBacked) 1 else 2
    spark.conf.set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, deltas)
  }

  test("ERROR: snapshot of version not found")(testSnapshotNotFound())

  test("provider.replayReadStoreFromSnapshot(snapshotVersion, endVersion)") {
    testGetReadStoreWithStartVersion()
  }

  // RocksDB's own suites rely on the snapshot that it writes when column families are made.
  private def withEachSnapshot(body: => Unit): Unit =
    withSQLConf(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key -> "1")(body)

  if (!ConfiguredProvider.isHdfsBacked)
    for ((format, testOfFormat) <- testsOfJoinsInFamilies)
      test(s"snapshotStartBatchId on join state v$format")(withEachSnapshot(testOfFormat()))
}

/** Spark's `statestore` source reading its change feed. */
class ConfiguredStateDataSourceChangeDataReaderSuite extends StateDataSourceChangeDataReaderSuite {
  override protected def newStateStoreProvider() = ConfiguredProvider.make()

  override def beforeAll(): Unit = {
    super.beforeAll()
    spark.conf.set(StateDataSourceSuites.RocksDbChangelog, true)
  }
}

private object StateDataSourceSuites {

  /** Without it RocksDB has neither a change feed nor deltas to replay. */
  val RocksDbChangelog = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
}
