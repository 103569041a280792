package io.keyfold.spark

import io.keyfold.errors.Invalid
import io.keyfold.mem.page.PagePool
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.SparkException
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.Platform
import org.scalatest.funsuite.AnyFunSuite

/** Spark's contract for a provider, as far as this release has it. */
class KeyfoldStateStoreProviderSuite extends AnyFunSuite {
  import ProviderFixture._

  private val State = "spark.sql.streaming.stateStore"

  test("rows are put, read, removed, committed and read again by another provider") {
    inFolder() { f =>
      val provider = f.provider()
      val store = provider.getStore(0)
      assert(store.get(f.key("a", 1L)) == null)
      store.put(f.key("a", 1L), f.value(10L))
      store.put(f.key("b", 2L), f.value(20L))
      store.put(f.key("c", 3L), f.value(30L))
      store.remove(f.key("b", 2L))
      assert(store.get(f.key("a", 1L)).getLong(0) == 10L)
      assert(store.keyExists(f.key("c", 3L)) && !store.keyExists(f.key("b", 2L)))
      assert(!store.hasCommitted)
      assert(store.commit() == 1)
      assert(store.hasCommitted)
      val expected = Map(entry("a", 1, 10), entry("c", 3, 30))
      for (p <- Seq(provider, f.provider())) {
        val read = p.getReadStore(1)
        assert(f.rows(read.iterator()) == expected)
        read.release()
        read.release()
        read.abort()
      }
    }
  }

  test("buffers that the caller reuses are copied") {
    inFolder() { f =>
      val store = f.provider().getStore(0)
      val key = f.key("a", 1L)
      val value = f.value(10L)
      store.put(key, value)
      key.setLong(1, 99L)
      value.setLong(0, 99L)
      assert(f.rows(store.iterator()) == Map(entry("a", 1, 10)))
    }
  }

  test("a row that get returned stays what it was through overwrite, remove, commit and close") {
    inFolder() { f =>
      val provider = f.provider()
      val first = provider.getStore(0)
      first.put(f.key("a", 1L), f.value(10L))
      first.commit()
      val store = provider.getStore(1)
      val before = store.get(f.key("a", 1L))
      store.put(f.key("a", 1L), f.value(11L))
      val after = store.get(f.key("a", 1L))
      store.remove(f.key("a", 1L))
      store.put(f.key("z", 1L), f.value(77L))
      store.commit()
      provider.close()
      assert(before.getLong(0) == 10L && after.getLong(0) == 11L)
    }
  }

  test("rows may be removed and put while an iterator is open (fault 18)") {
    inFolder() { f =>
      val store = f.provider().getStore(0)
      for (i <- 1 to 100) store.put(f.key(s"k$i", i.toLong), f.value(i.toLong))
      var seen = 0
      store.iterator().foreach { pair =>
        seen += 1
        store.remove(pair.key)
        store.put(f.key(s"new$seen", 0L), f.value(0L))
      }
      assert(seen == 100)
      assert(f.rows(store.iterator()).keySet == (1 to 100).map(i => entry(s"new$i", 0, 0)._1).toSet)
    }
  }

  test("a prefix scan finds the keys with these first columns, and no others") {
    inFolder() { f =>
      val provider = f.provider(spec = PrefixKeyScanStateEncoderSpec(_, 1))
      val prefix = new ProviderFixture(new StructType().add("k", StringType))
      val store = provider.getStore(0)
      for (k <- Seq("a", "aa", "b"); n <- 1 to 3) store.put(f.key(k, n.toLong), f.value(n * 10L))
      val expected = (1 to 3).map(n => entry("a", n.toLong, n * 10L)).toMap
      assert(f.rows(store.prefixScan(prefix.key("a"))) == expected)
      assert(f.rows(store.prefixScan(prefix.key("none"))).isEmpty)
      assert(store.get(f.key("aa", 2L)).getLong(0) == 20L)
      store.commit()
      val read = f.provider(spec = PrefixKeyScanStateEncoderSpec(_, 1)).getReadStore(1)
      assert(f.rows(read.prefixScan(prefix.key("a"))) == expected)
      assert(f.rows(read.iterator()).size == 9)
      prefix.delete()
    }
  }

  test("a read store is upgraded to a write store of the same version") {
    inFolder() { f =>
      val provider = f.provider()
      val first = provider.getStore(0)
      first.put(f.key("a", 1L), f.value(10L))
      first.commit()
      val read = provider.getReadStore(1)
      val write = provider.upgradeReadStoreToWriteStore(read, 1)
      write.put(f.key("b", 2L), f.value(20L))
      assert(f.rows(read.iterator()) == Map(entry("a", 1, 10)))
      assert(write.commit() == 2)
      assert(f.rows(f.provider().getReadStore(2).iterator()).size == 2)
    }
  }

  test("an abandoned or aborted store leaves nothing; an abort after a commit, too (fault 17)") {
    inFolder() { f =>
      val provider = f.provider()
      val aborted = provider.getStore(0)
      aborted.put(f.key("a", 1L), f.value(10L))
      aborted.abort()
      aborted.abort()
      assert(f.files.isEmpty)
      val store = provider.getStore(0)
      store.commit()
      store.abort()
      assert(store.hasCommitted)
      assert(f.rows(provider.getReadStore(1).iterator()).isEmpty)
    }
  }

  test("a version committed twice is what was committed last, as Spark's format v1 has it") {
    inFolder() { f =>
      val provider = f.provider()
      for (v <- Seq(1L, 2L)) {
        val store = provider.getStore(0)
        store.put(f.key("a", 1L), f.value(v))
        store.commit()
      }
      assert(provider.getReadStore(1).get(f.key("a", 1L)).getLong(0) == 2L)
      assert(f.provider().getReadStore(1).get(f.key("a", 1L)).getLong(0) == 2L)
    }
  }

  test("format v2: each attempt has an id of its own, and only the one that is named is read") {
    inFolder() { f =>
      val provider = f.provider(Map(s"$State.checkpointFormatVersion" -> "2"))
      val attempts = for (v <- Seq(1L, 2L)) yield {
        val store = provider.getStore(0)
        store.put(f.key("a", 1L), f.value(v))
        store.commit()
        store.getStateStoreCheckpointInfo()
      }
      val ids = attempts.map(_.stateStoreCkptId)
      assert(ids.forall(_.nonEmpty) && ids.distinct.size == 2)
      assert(attempts.forall(a => a.batchVersion == 1 && a.baseStateStoreCkptId.isEmpty))
      for (p <- Seq(provider, f.provider()); (id, v) <- ids.zip(Seq(1L, 2L)))
        assert(p.getReadStore(1, id).get(f.key("a", 1L)).getLong(0) == v)
      val next = provider.getStore(1, ids.head)
      next.commit()
      assert(next.getStateStoreCheckpointInfo().baseStateStoreCkptId == ids.head)
    }
  }

  test("maintenance writes snapshots and deletes what retention allows") {
    inFolder() { f =>
      val provider = f.provider(Map("spark.sql.streaming.minBatchesToRetain" -> "2"))
      for (v <- 0 to 9) {
        val store = provider.getStore(v.toLong)
        store.put(f.key(s"k$v", 0L), f.value(v.toLong))
        store.commit()
        provider.doMaintenance()
      }
      assert(f.files.exists(_.endsWith(".snapshot")))
      assert(!f.files.contains("1.delta"))
      assert(f.rows(f.provider().getReadStore(10).iterator()).size == 10)
      assert(f.rows(f.provider().getReadStore(8).iterator()).size == 8)
    }
  }

  test("a forced snapshot is there when commit returns, and counted") {
    inFolder() { f =>
      val forced = true
      val store = f.provider().getStore(0, None, forced)
      store.commit()
      assert(f.files == Seq("1.delta", "1.snapshot"))
      val counted = store.metrics.customMetrics.map { case (m, n) => m.name -> n }
      assert(counted("forceSnapshotCount") == 1)
      assert(counted("keyfoldSnapshots") == 1)
    }
  }

  test("a store that is to begin empty has no old rows, and needs no old files") {
    inFolder() { f =>
      val provider = f.provider()
      val old = provider.getStore(0)
      old.put(f.key("old", 1L), f.value(1L))
      old.commit()
      val (forced, empty) = (false, true)
      val store = provider.getStore(1, None, forced, empty)
      assert(store.iterator().isEmpty)
      store.put(f.key("new", 2L), f.value(2L))
      assert(store.commit() == 2)
      assert(f.files == Seq("1.delta", "2.snapshot"))
      assert(f.rows(f.provider().getReadStore(2).iterator()) == Map(entry("new", 2L, 2L)))
    }
  }

  test(
    "with row checksums a row damaged in memory is Spark's error, and whole again in the retry"
  ) {
    assume(LaterFeatures.rowChecksums, "Rows have checksums since Spark 4.2")
    inFolder() { f =>
      val provider = f.provider(
        Map(
          s"$State.rowChecksum.enabled" -> "true",
          s"$State.rowChecksum.readVerificationRatio" -> "1"
        )
      )
      val first = provider.getStore(0)
      first.put(f.key("a", 1L), f.value(7L))
      first.commit()
      for (read <- Seq[StateStore => Any](_.get(f.key("a", 1L)), _.iterator().toList)) {
        val store = provider.getStore(1)
        val row = store.get(f.key("a", 1L))
        Platform.putLong(row.getBaseObject, row.getBaseOffset + 8, 8L)
        val error = intercept[SparkException](read(store))
        assert(error.getCondition == "STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED")
        store.abort()
        val retry = provider.getStore(1)
        assert(retry.get(f.key("a", 1L)).getLong(0) == 7L)
        retry.abort()
      }
    }
  }

  test("faults of the file system that pass are tried again, in bounds, and counted (fault 12)") {
    inFolder() { f =>
      def retries(store: StateStore) =
        store.metrics.customMetrics.collectFirst {
          case (metric, count) if metric.name == "keyfoldFileRetries" => count
        }.get
      def open() = f.provider(hadoop = f.faults.settings)
      val provider = open()
      f.faults.plan.failPassing(times = 2)(_.what == "create")
      val store = provider.getStore(0)
      store.put(f.key("a", 1L), f.value(1L))
      assert(store.commit() == 1)
      assert(retries(store) == 2)

      f.faults.plan.failPassing(times = 3)(_.what == "create")
      val failing = provider.getStore(1)
      assert(intercept[SparkException](failing.commit()).getMessage.contains("injected"))
      failing.abort()
      f.faults.plan.failPassing(times = 1)(_.what == "open")
      assert(f.rows(open().getReadStore(1).iterator()) == Map(entry("a", 1L, 1L)))
    }
  }

  test("metrics are those announced, and right") {
    inFolder() { f =>
      val announced = new KeyfoldStateStoreProvider
      val store = f.provider().getStore(0)
      for (i <- 1 to 5) store.put(f.key("k", i.toLong), f.value(0L))
      store.remove(f.key("k", 1L))
      store.commit()
      val metrics = store.metrics
      assert(metrics.numKeys == 4)
      assert(metrics.memoryUsedBytes > 0)
      assert(metrics.customMetrics.keySet == announced.supportedCustomMetrics.toSet)
      val instance = LaterFeatures.instanceMetrics(announced, 0, "default")
      assert(LaterFeatures.instanceMetrics(metrics) == instance)
      val counted = metrics.customMetrics.map { case (m, n) => m.name -> n }
      assert(counted("keyfoldDeltas") == 1 && counted("keyfoldDeltaBytes") > 0)
      // A key: null bits 8, two columns 16, text 8. A value: null bits 8, one column 8.
      assert(counted("keyfoldStateBytes") == 4 * (32 + 16))
      assert(counted("keyfoldOffHeapBytes") == metrics.memoryUsedBytes)
      assert(counted("keyfoldOffHeapBytes") % PagePool.PageBytes == 0)
      assert(counted("keyfoldSpilledBytes") == 0)
      val live = counted("keyfoldOffHeapBytes") - counted("keyfoldFreeBytes")
      assert(live >= counted("keyfoldStateBytes") && counted("keyfoldFreeBytes") > 0)
    }
  }

  test("the provider has the name that settings and checkpoints know it by") {
    assert(ProviderClass.Keyfold == classOf[KeyfoldStateStoreProvider].getName)
  }

  test("neither the constructor nor init touches a file") {
    inFolder() { f =>
      f.provider()
      assert(f.files.isEmpty)
      new KeyfoldStateStoreProvider().close()
    }
  }

  test("operations that a family does not have are refused, by name") {
    inFolder() { f =>
      val store = f.provider().getStore(0)
      val row = f.key("a", 1L)
      val uses = Seq[(String, () => Any)](
        "column families" -> (() => store.get(row, "other")),
        "merge" -> (() => store.merge(row, f.value(1L))),
        "putList" -> (() => store.putList(row, Array(f.value(1L)))),
        "valuesIterator" -> (() => store.valuesIterator(row)),
        "rangeScan" -> (() => store.rangeScan(None, None)),
        "deleteRange" -> (() => store.deleteRange(row, row)),
        "prefixScan" -> (() => store.prefixScan(row))
      )
      for ((name, use) <- uses) {
        val error = intercept[UnsupportedOperationException](use())
        assert(error.getMessage.contains(name))
      }
      intercept[IllegalArgumentException](f.provider(multipleValues = true))
    }
  }

  test("settings that are not known or out of range are refused, saying what is right") {
    inFolder() { f =>
      def refused(setting: (String, String)) =
        intercept[Invalid](f.provider(Map(setting), partitions = 8)).getMessage
      assert(refused(s"$State.keyfold.keygroups" -> "16").contains("knows"))
      assert(
        refused(s"$State.keyfold.keyGroups" -> "many")
          .contains("a whole number from 1 to 1048576, not many")
      )
      assert(
        refused(s"$State.keyfold.compression.codec" -> "gzip").contains("lz4, none, zstd, not gzip")
      )
      assert(
        refused(s"$State.keyfold.snapshotAfterDeltaBytes" -> "many")
          .contains("must be a size above 0, in bytes or with a unit, such as 512m or 4g, not many")
      )
      for (wrong <- Seq("-0.1", "half", "NaN", "Infinity"))
        assert(
          refused(s"$State.keyfold.snapshotAfterShare" -> wrong)
            .contains(s"must be a number, 0 or above, not $wrong")
        )
    }
  }

  test("key groups that do not fit the partitions are refused for a new checkpoint alone") {
    inFolder() { f =>
      def of(keyGroups: Int) =
        f.provider(Map(s"$State.keyfold.keyGroups" -> keyGroups.toString), partitions = 8)
      val error = intercept[Exception](of(keyGroups = 12).getStore(0))
      assert(error.getCause.getMessage.contains("a multiple of the 8 partitions, not 12"))
      val store = of(keyGroups = 16).getStore(0)
      store.put(f.key("k", 1L), f.value(1L))
      store.commit()
      assert(f.rows(of(keyGroups = 12).getReadStore(1).iterator()).size == 1)
    }
  }

  test("each codec is written as set and read whatever is set") {
    for (codec <- Seq("zstd", "lz4", "none")) inFolder() { f =>
      val store = f.provider(Map(s"$State.keyfold.compression.codec" -> codec)).getStore(0)
      for (i <- 1 to 1000) store.put(f.key("k", i.toLong), f.value(i.toLong))
      store.commit()
      assert(f.rows(f.provider().getReadStore(1).iterator()).size == 1000)
    }
  }

  test("a version that is not there cannot be loaded, and the message says which file is missing") {
    inFolder() { f =>
      val error = intercept[SparkException](f.provider().getStore(3))
      assert(error.getCondition.startsWith("CANNOT_LOAD_STATE_STORE"))
      assert(error.getMessage.contains("[KEYFOLD_FILE_MISSING]"))
      assert(error.getMessage.contains("3.delta"))
      assert(intercept[SparkException](f.provider().getStore(-1)).getMessage.contains("-1"))
    }
  }

  test("a row is kept in the partition that Spark gives it to, whatever its hash says") {
    inFolder() { f =>
      for (p <- 0 until 4) {
        val store = f.provider(partitions = 4, partition = p).getStore(0)
        store.put(f.key("a", 1L), f.value(p.toLong))
        store.commit()
        val read = f.provider(partitions = 4, partition = p).getReadStore(1)
        assert(f.rows(read.iterator()) == Map(entry("a", 1L, p.toLong)))
        assert(read.get(f.key("a", 1L)).getLong(0) == p)
      }
    }
  }

  test("files of another number of partitions are refused") {
    inFolder() { f =>
      f.provider(partitions = 4).getStore(0).commit()
      val error = intercept[SparkException](f.provider(partitions = 8).getStore(1))
      assert(error.getMessage.contains("[KEYFOLD_PARTITIONS_MISMATCH]"))
    }
  }

  for (other <- Seq("HDFSBackedStateStoreProvider", "RocksDBStateStoreProvider"))
    test(s"a checkpoint written by $other is refused, saying what to do") {
      inFolder() { f =>
        val foreign =
          f.provider(className = s"org.apache.spark.sql.execution.streaming.state.$other")
        val store = foreign.getStore(0)
        store.put(f.key("a", 1L), f.value(1L))
        store.commit()
        foreign.close()
        val error = intercept[SparkException](f.provider().getStore(1))
        assert(error.getMessage.contains("[KEYFOLD_NOT_A_KEYFOLD_FILE]"))
        assert(
          error.getMessage.contains("run the query with the provider that wrote the checkpoint")
        )
      }
    }
}
