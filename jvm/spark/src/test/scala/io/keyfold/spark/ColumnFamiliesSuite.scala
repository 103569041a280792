package io.keyfold.spark

import io.keyfold.spark.encoding.RowPicker
import io.keyfold.spark.partition.PartitionKey
import io.keyfold.testkit.{FileContents, LocalBlobStore}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

/** Column families of a store, through Spark's interfaces. */
class ColumnFamiliesSuite extends AnyFunSuite with QuietLogs {
  import ProviderFixture._

  private val range = RangeKeyScanStateEncoderSpec(keySchema, Seq(1))
  private val plain = NoPrefixKeyStateEncoderSpec(keySchema)

  private def create(
      store: StateStore,
      name: String,
      spec: KeyStateEncoderSpec = plain,
      multi: Boolean = false,
      internal: Boolean = false
  ): Unit = store.createColFamilyIfAbsent(name, keySchema, valueSchema, spec, multi, internal)

  private def provider(f: ProviderFixture) = f.provider(columnFamilies = true)

  test("a TTL index has the rule of its variable, which Spark declares after it") {
    // What a map's keys look like, and what a user may group by.
    val pair = new StructType().add("key", keySchema).add("userKey", keySchema)
    val expiry = new StructType().add("expirationMs", LongType).add("elementKey", pair)
    val variables = Seq(
      ("value", NoPrefixKeyStateEncoderSpec(pair), "path:1"),
      ("map", PrefixKeyScanStateEncoderSpec(pair, 1), "path:1.0")
    )
    inFolder() { f =>
      def declare(store: StateStore): Unit = for ((name, spec, _) <- variables) {
        val index = RangeKeyScanStateEncoderSpec(expiry, Seq(0))
        store.createColFamilyIfAbsent(s"$$ttl_$name", expiry, valueSchema, index, isInternal = true)
        store.createColFamilyIfAbsent(name, pair, valueSchema, spec)
      }
      val first = provider(f)
      val aborted = first.getStore(0)
      declare(aborted)
      aborted.abort()
      for (version <- 0 to 1) {
        val store = (if (version == 0) first else provider(f)).getStore(version.toLong)
        declare(store)
        store.commit()
        val file = FileContents.read(new LocalBlobStore(f.root), s"state/0/0/${version + 1}.delta")
        assert(file.footer.dropped.isEmpty)
        val rules = file.footer.families.map(it => it.spec.name -> it.spec.partitionKey).toMap
        for ((name, _, rule) <- variables) assert(rules(s"$$ttl_$name") == rule)
      }
    }
  }

  test("each family has its own rows, in the store, in read stores, and for another provider") {
    inFolder() { f =>
      val first = provider(f)
      val store = first.getStore(0)
      create(store, "a")
      create(store, "b", range)
      create(store, "$c", internal = true)
      for ((family, i) <- Seq("default", "a", "b", "$c").zipWithIndex) {
        store.put(f.key("k", 1L), f.value(i.toLong), family)
        assert(store.get(f.key("k", 1L), family) == f.value(i.toLong))
      }
      store.remove(f.key("k", 1L), "a")
      assert(!store.keyExists(f.key("k", 1L), "a") && store.keyExists(f.key("k", 1L), "b"))
      store.commit()
      assert(store.metrics.numKeys == 2)

      val names = Set("default", "a", "b", "$c")
      assert(first.getReadStore(1, None).allColumnFamilyNames == names)
      val other = provider(f)
      val next = other.getStore(1)
      assert(next.allColumnFamilyNames == names)
      create(next, "b", range)
      assert(f.rows(next.iterator("b")) == Map(entry("k", 1, 2)))
      next.put(f.key("m", 2L), f.value(7L), "b")
      val multi = next.multiGet(Array(f.key("m", 2L), f.key("x", 1L)), "b").toSeq
      assert(multi == Seq(f.value(7L), null))
      next.commit()
      val read = other.getReadStore(2, None)
      assert(f.rows(read.iterator("b")) == Map(entry("k", 1, 2), entry("m", 2, 7)))
      assert(f.rows(other.getReadStore(1, None).iterator("b")) == Map(entry("k", 1, 2)))
    }
  }

  test("a family made in a store that is given up is gone, but can be read where it is") {
    inFolder() { f =>
      val first = provider(f)
      val store = first.getStore(0)
      create(store, "a")
      store.put(f.key("k", 1L), f.value(1L), "a")
      store.commit()

      // As Spark's state reader does it.
      val reader = provider(f)
      val givenUp = reader.getStore(1)
      create(givenUp, "a")
      create(givenUp, "b")
      givenUp.abort()
      val read = reader.getReadStore(1, None)
      assert(f.rows(read.iterator("a")) == Map(entry("k", 1, 1)))
      assert(read.allColumnFamilyNames == Set("default", "a"))
      intercept[StateStoreUnsupportedOperationOnMissingColumnFamily](read.iterator("b"))
    }
  }

  test("a removed family is gone in the versions after it, and can be made anew") {
    inFolder() { f =>
      val first = provider(f)
      val store = first.getStore(0)
      create(store, "a")
      create(store, "b")
      store.put(f.key("k", 1L), f.value(1L), "a")
      store.put(f.key("k", 1L), f.value(2L), "b")
      store.commit()
      val second = first.getStore(1)
      assert(second.get(f.key("k", 1L), "b") == f.value(2L))
      assert(second.removeColFamilyIfExists("a") && !second.removeColFamilyIfExists("a"))
      assert(second.get(f.key("k", 1L), "b") == f.value(2L))
      intercept[StateStoreUnsupportedOperationOnMissingColumnFamily] {
        second.get(f.key("k", 1L), "a")
      }
      second.commit()
      val third = provider(f).getStore(2)
      assert(third.allColumnFamilyNames == Set("default", "b"))
      create(third, "a", range)
      assert(third.rangeScan(None, None, "a").isEmpty)
      third.commit()
      assert(f.rows(first.getReadStore(1, None).iterator("a")) == Map(entry("k", 1, 1)))
    }
  }

  test("names are checked as Spark's RocksDB provider does it") {
    inFolder() { f =>
      val store = provider(f).getStore(0)
      val row = f.key("k", 1L)
      for (name <- Seq("", " ", "a ", " a")) {
        intercept[StateStoreCannotUseColumnFamilyWithInvalidName](create(store, name))
        intercept[StateStoreCannotUseColumnFamilyWithInvalidName](store.get(row, name))
        intercept[StateStoreCannotUseColumnFamilyWithInvalidName] {
          store.removeColFamilyIfExists(name)
        }
      }
      intercept[StateStoreCannotUseColumnFamilyWithInvalidName](create(store, "default"))
      create(store, "default", internal = true)
      intercept[StateStoreCannotCreateColumnFamilyWithReservedChars](create(store, "$a"))
      val missing = intercept[StateStoreUnsupportedOperationOnMissingColumnFamily] {
        store.put(row, f.value(1L), "a")
      }
      assert(missing.getMessage.contains("put") && missing.getMessage.contains("a"))

      val single = f.provider().getStore(0)
      intercept[StateStoreUnsupportedOperationException](create(single, "a"))
      intercept[StateStoreUnsupportedOperationException](single.removeColFamilyIfExists("a"))
      assert(single.allColumnFamilyNames == Set("default"))
    }
  }

  test("a family cannot be made again with another encoding of keys") {
    inFolder() { f =>
      val store = provider(f).getStore(0)
      create(store, "a")
      create(store, "a", internal = true)
      for (
        other <- Seq[() => Unit](
          () => create(store, "a", range),
          () => create(store, "a", multi = true)
        )
      ) {
        val error = intercept[UnsupportedOperationException](other())
        assert(
          error
            .asInstanceOf[SparkThrowable]
            .getCondition == "STATE_STORE_COLUMN_FAMILY_SCHEMA_INCOMPATIBLE"
        )
        assert(error.getMessage.contains("column family=a"))
        assert(error.getCause.getMessage.contains("deleteIfExists"))
      }
      store.put(f.key("k", 1L), f.value(1L), "a")
    }
  }

  test("range scans and deletions take what lies between, start included, end not") {
    inFolder() { f =>
      val store = provider(f).getStore(0)
      create(store, "r", range)
      val numbers = Seq(-5L, -1L, 0L, 1L, 900L, Long.MinValue, Long.MaxValue)
      for (n <- numbers) store.put(f.key("x", n), f.value(n), "r")
      def scan(start: Option[Long], end: Option[Long]) =
        store
          .rangeScan(start.map(n => f.key("", n)), end.map(n => f.key("", n)), "r")
          .map(_.key.getLong(1))
          .toSeq
      val sorted = numbers.sorted
      val bounds = None +: (sorted ++ Seq(-3L, 5L)).map(Some(_))
      for (start <- bounds; end <- bounds) {
        val expected = sorted.filter(n => start.forall(_ <= n) && end.forall(n < _))
        assert(scan(start, end) == expected, s"$start $end")
      }
      store.deleteRange(f.key("", -1L), f.key("", 900L), "r")
      assert(scan(None, None) == Seq(Long.MinValue, -5L, 900L, Long.MaxValue))
      intercept[UnsupportedOperationException] {
        store.deleteRange(f.key("", 1L), f.key("", 2L), "default")
      }
    }
  }

  test("rows cannot be ordered by columns of variable or no length") {
    inFolder() { f =>
      val store = provider(f).getStore(0)
      intercept[StateStoreVariableSizeOrderingColsNotSupported] {
        create(store, "r", RangeKeyScanStateEncoderSpec(keySchema, Seq(0)))
      }
      val nothing = new StructType().add("n", NullType)
      intercept[StateStoreNullTypeOrderingColsNotSupported] {
        create(store, "r", RangeKeyScanStateEncoderSpec(nothing, Seq(0)))
      }
    }
  }

  test("a key of a multi-value family has its values in the order they came") {
    inFolder() { f =>
      val first = provider(f)
      val store = first.getStore(0)
      create(store, "l", multi = true)
      create(store, "p", PrefixKeyScanStateEncoderSpec(keySchema, 1), multi = true)
      create(store, "r", range, multi = true)
      def values(store: ReadStateStore, k: String) =
        store.valuesIterator(f.key(k, 1L), "l").map(_.getLong(0)).toSeq
      store.merge(f.key("a", 1L), f.value(1L), "l")
      store.mergeList(f.key("a", 1L), Array(f.value(2L), f.value(2L)), "l")
      store.putList(f.key("b", 1L), Array(f.value(5L), f.value(4L)), "l")
      store.putList(f.key("c", 1L), Array(f.value(5L), f.value(4L)), "l")
      store.putList(f.key("c", 1L), Array(f.value(3L)), "l")
      assert(
        Seq("a", "b", "c", "d").map(values(store, _)) ==
          Seq(Seq(1L, 2L, 2L), Seq(5L, 4L), Seq(3L), Nil)
      )
      assert(store.get(f.key("b", 1L), "l") == f.value(5L))
      for (family <- Seq("p", "r"); n <- 1L to 3L) {
        store.putList(f.key("k", n), Array(f.value(n), f.value(n * 10)), family)
      }
      store.commit()
      for (
        read <- Seq(first, provider(f)).map { p =>
          val opened = p.getStore(1)
          create(opened, "l", multi = true)
          create(opened, "p", PrefixKeyScanStateEncoderSpec(keySchema, 1), multi = true)
          create(opened, "r", range, multi = true)
          opened
        }
      ) {
        assert(
          Seq("a", "b", "c", "d").map(values(read, _)) ==
            Seq(Seq(1L, 2L, 2L), Seq(5L, 4L), Seq(3L), Nil)
        )
        val once = Map(entry("a", 1, 1), entry("b", 1, 5), entry("c", 1, 3))
        assert(f.rows(read.iterator("l")) == once)
        // Values of a key while keys are gone through, as Spark's state reader does it.
        val nested = read.iterator("l").map(pair => values(read, pair.key.getString(0)).size).sum
        assert(nested == 6)
        def all(pairs: Iterator[UnsafeRowPair]) =
          pairs.map(p => p.key.getLong(1) -> p.value.getLong(0)).toSeq
        val prefix = new RowPicker(keySchema, Array(0)).pick(f.key("k", 0L))
        val whole = Seq(1L -> 1L, 1L -> 10L, 2L -> 2L, 2L -> 20L, 3L -> 3L, 3L -> 30L)
        assert(all(read.prefixScanWithMultiValues(prefix, "p")) == whole)
        assert(all(read.iteratorWithMultiValues("p")) == whole)
        val some = read.rangeScanWithMultiValues(Some(f.key("", 2L)), Some(f.key("", 3L)), "r")
        assert(all(some) == Seq(2L -> 2L, 2L -> 20L))
        assert(all(read.prefixScan(prefix, "p")) == whole.filter { case (k, v) => k == v })
        read.abort()
      }
      intercept[UnsupportedOperationException](store.iteratorWithMultiValues("default"))
    }
  }

  test("rows without columns and of null type are keys and values as others") {
    val nothing = new StructType().add("n", NullType)
    for (keys <- Seq(new StructType, nothing)) {
      inFolder(new ProviderFixture(keys, nothing)) { f =>
        val key = f.key(keys.map(_ => null): _*)
        val value = f.value(null)
        val store = f.provider().getStore(0)
        assert(store.get(key) == null)
        store.put(key, value)
        store.commit()
        val read = f.provider().getReadStore(1, None)
        assert(read.get(key) == value && read.keyExists(key))
        assert(
          read.iterator().map(pair => (pair.key.copy(), pair.value.copy())).toSeq ==
            Seq(key -> value)
        )
      }
    }
  }

  test("the rule of a family is in its files, and whether rows are elsewhere than it says") {
    val keys = (0 to 20).map(i => (i.toLong, PartitionKey("all", keySchema).newHash()))
    for (isStray <- Seq(false, true)) inFolder() { f =>
      val store = f.provider(partitions = 2, columnFamilies = true).getStore(0)
      for (name <- Seq("a", "b")) create(store, name)
      val (fitting, others) = keys.map { case (i, hash) => (f.key("k", i), hash) }.partition {
        case (key, hash) => Math.floorMod(hash(key), 2) == 0
      }
      assert(fitting.nonEmpty && others.nonEmpty)
      for ((key, _) <- fitting) store.put(key, f.value(1L), "a")
      if (isStray) for ((key, _) <- others) store.put(key, f.value(1L), "a")
      store.commit()
      val file = FileContents.read(new LocalBlobStore(f.root), "state/0/0/1.delta")
      val families = file.footer.families.map(it => it.spec.name -> it.spec).toMap
      assert(families("a").partitionKey == "all" && families("a").strays == isStray)
      assert(!families("b").strays)
    }
  }
}
