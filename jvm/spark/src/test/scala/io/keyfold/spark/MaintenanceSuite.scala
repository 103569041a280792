package io.keyfold.spark

import java.util.UUID

import io.keyfold.testkit.{Failure, FileCall}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.StateStores
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** Maintenance as Spark runs it, on its threads and for all stores of a process: it throws, meets
  * itself, or meets an unload (fault 16).
  */
class MaintenanceSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  import ProviderFixture.{entry, inFolder, keySchema, valueSchema}

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(20.seconds, 10.millis)

  /** Stores of one query, a partition each. */
  private class Stores(
      f: ProviderFixture,
      provider: Class[_ <: StateStoreProvider] = classOf[KeyfoldStateStoreProvider]
  ) {
    private val run = UUID.randomUUID
    private val conf = new SQLConf
    conf.setConf(SQLConf.STATE_STORE_PROVIDER_CLASS, provider.getName)
    conf.setConf(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT, 2)
    conf.setConf(SQLConf.MIN_BATCHES_TO_RETAIN, 2)
    conf.setConf(SQLConf.NUM_STATE_STORE_MAINTENANCE_THREADS, 2)
    // Maintenance is called by the tests.
    conf.setConf(SQLConf.STREAMING_MAINTENANCE_INTERVAL, 3600000L)
    private val hadoopConf = new Configuration
    f.faults.settings.foreach { case (key, value) => hadoopConf.set(key, value) }
    StateStores.startCoordinator()

    def id(partition: Int): StateStoreProviderId =
      StateStoreProviderId(StateStoreId(f.state, 0, partition), run)

    def open(partition: Int, version: Long): StateStore = StateStore.get(
      id(partition),
      keySchema,
      valueSchema,
      NoPrefixKeyStateEncoderSpec(keySchema),
      version,
      None,
      None,
      useColumnFamilies = false,
      new StateStoreConf(conf),
      hadoopConf
    )

    /** Versions of which each puts a row. */
    def commit(partition: Int, versions: Range): Unit =
      for (v <- versions) put(open(partition, v - 1L), v)

    def isLoaded(partition: Int): Boolean = StateStore.isLoaded(id(partition))

    /** The store's rows are those of this version, as Spark reads them and as others would. */
    def requireRows(partition: Int, version: Int): Unit = {
      val expected = (1 to version).map(v => entry("k", v.toLong, v.toLong)).toMap
      val here = open(partition, version.toLong)
      assert(f.rows(here.iterator()) == expected)
      here.abort()
      val other = f.provider(partition = partition)
      assert(f.rows(other.getReadStore(version.toLong).iterator()) == expected)
      other.close()
    }

    def put(store: StateStore, v: Int): Unit = {
      store.put(f.key("k", v.toLong), f.value(v.toLong))
      store.commit()
      ()
    }
  }

  private def on(what: String, partition: Int, ending: String): FileCall => Boolean =
    call => call.what == what && call.path.matches(s"state/0/$partition/.*$ending")

  private def files(f: ProviderFixture, partition: Int, ending: String): Seq[String] =
    f.root.resolve(s"state/0/$partition").toFile.list.toSeq.filter(_.endsWith(ending))

  test("a store whose maintenance fails loses nothing; others get theirs (fault 16)") {
    inFolder() { f =>
      val stores = new Stores(f)
      for (p <- 0 to 1) stores.commit(p, 1 to 4)
      f.faults.plan.fail(Failure.Before)(on("create", 0, "snapshot.tmp"))
      StateStores.maintain()
      eventually(assert(f.faults.plan.hasFailed && files(f, 1, ".snapshot").nonEmpty))
      assert(files(f, 0, ".snapshot").isEmpty)
      assert(stores.isLoaded(0) && stores.isLoaded(1))
      for (p <- 0 to 1) stores.commit(p, 5 to 6)
      f.faults.plan.clear()
      eventually {
        StateStores.maintain()
        assert(files(f, 0, ".snapshot").nonEmpty)
      }
      for (p <- 0 to 1) stores.requireRows(p, 6)
    }
  }

  test("a provider whose maintenance throws is unloaded by Spark, alone, and loads again") {
    inFolder() { f =>
      val stores = new Stores(f, classOf[MaintenanceSuite.Throwing])
      for (p <- 0 to 1) stores.commit(p, 1 to 4)
      StateStores.maintain()
      eventually(assert(!stores.isLoaded(0) && files(f, 1, ".snapshot").nonEmpty))
      assert(stores.isLoaded(1))
      for (p <- 0 to 1) stores.commit(p, 5 to 6)
      for (p <- 0 to 1) stores.requireRows(p, 6)
    }
  }

  test("a store that is unloaded while it is maintained: the new owner goes on (fault 16)") {
    inFolder() { f =>
      val stores = new Stores(f)
      stores.commit(0, 1 to 4)
      val gate = f.faults.plan.hold(on("close", 0, "snapshot"))
      StateStores.maintain()
      gate.awaitArrival()
      StateStores.moveElsewhere(stores.id(0))
      // A task of another partition is told that the first store has gone.
      stores.commit(1, 1 to 4)
      assert(!stores.isLoaded(0) && stores.isLoaded(1))
      val owner = f.provider()
      for (v <- 5 to 7) stores.put(owner.getStore(v - 1L), v)
      owner.doMaintenance()
      gate.open()
      eventually(assert(files(f, 0, ".snapshot").contains("3.snapshot") && StateStores.isIdle))
      stores.requireRows(0, 7)
      stores.requireRows(1, 4)
      owner.close()
    }
  }

  test("maintenance by a task, beside that of Spark's thread, then the unload: nothing is lost") {
    val unload = LaterFeatures.maintainAndUnload
      .getOrElse(cancel("Tasks maintain and unload stores since Spark 4.1"))
    inFolder() { f =>
      val stores = new Stores(f)
      stores.commit(0, 1 to 8)
      val snapshot = f.faults.plan.hold(on("close", 0, "snapshot"))
      StateStores.maintain()
      snapshot.awaitArrival()
      unload(stores.id(0))
      assert(!stores.isLoaded(0))
      assert(files(f, 0, ".snapshot") == Seq("7.snapshot"))
      snapshot.open()
      eventually(assert(StateStores.isIdle))
      stores.requireRows(0, 8)
      stores.commit(0, 9 to 12)
      stores.requireRows(0, 12)
    }
  }

  test("rows of an open iterator stay while the store is unloaded beneath it (fault 18)") {
    inFolder() { f =>
      val provider = f.provider()
      val store = provider.getStore(0)
      for (i <- 1 to 20) store.put(f.key("k", i.toLong), f.value(i.toLong))
      store.commit()
      val rows = store.iterator()
      val first = f.rows(rows.take(1))
      provider.doMaintenance()
      provider.close()
      assert((first ++ f.rows(rows)).size == 20)
    }
  }
}

object MaintenanceSuite {

  /** Keyfold's own never throws. */
  class Throwing extends KeyfoldStateStoreProvider {
    override def doSnapshotMaintenance(): Unit = {
      if (stateStoreId.partitionId == 0) throw new IllegalStateException("injected")
      super.doSnapshotMaintenance()
    }
  }
}
