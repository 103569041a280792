package io.keyfold.conformance

import io.keyfold.spark.KeyfoldStateStoreProvider
import org.apache.spark.sql.execution.datasources.v2.state.{
  StateDataSourceChangeDataReaderSuite,
  StateDataSourceReadSuite
}
import org.apache.spark.sql.internal.SQLConf

/** Spark's `statestore` source reading Keyfold's state: any version, and replay from a snapshot. */
class KeyfoldStateDataSourceReadSuite extends StateDataSourceReadSuite {
  override protected def newStateStoreProvider() = new KeyfoldStateStoreProvider

  override def beforeAll(): Unit = {
    super.beforeAll()
    val name = classOf[KeyfoldStateStoreProvider].getName
    spark.conf.set(SQLConf.STATE_STORE_PROVIDER_CLASS.key, name)
    // A snapshot at every other version, as the tests below expect.
    spark.conf.set(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, 2)
  }

  test("ERROR: snapshot of version not found")(testSnapshotNotFound())

  test("provider.replayReadStoreFromSnapshot(snapshotVersion, endVersion)") {
    testGetReadStoreWithStartVersion()
  }
}

/** Spark's `statestore` source reading Keyfold's change feed. */
class KeyfoldStateDataSourceChangeDataReaderSuite extends StateDataSourceChangeDataReaderSuite {
  override protected def newStateStoreProvider() = new KeyfoldStateStoreProvider
}
