package io.keyfold.store

import java.io.IOException
import java.time.{Clock, Instant, ZoneOffset}
import java.util.concurrent.atomic.AtomicReference

import io.keyfold.io.BlobStore
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.page.{FullDisk, PagePool}
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.testkit.{Failure, HeldBlobStore, MemoryBlobStore, Running}
import org.scalatest.funsuite.AnyFunSuite

/** Faults of docs/design/faults.md that no other suite is about. */
class FaultSuite extends AnyFunSuite {
  import StoreFixture._

  for ((what, how) <- Seq("shows nothing" -> Failure.Unseen, "fails" -> Failure.Before))
    test(s"a listing that always $what: no version is lost (fault 10)") {
      val fixture = new StoreFixture
      fixture.faults.plan.fail(how)(_.what == "list")
      val store = fixture.open()
      for (v <- 1 to 14) {
        fixture.commit(store, v - 1L, s"k$v" -> v.toString)
        store.snapshotIfDue()
        try store.cleanup()
        catch { case e: IOException => assert(e.getMessage.contains("injected")) }
        assert(fixture.loaded(v.toLong) == expected(v))
      }
      assert(fixture.faults.plan.hasFailed)
      for (v <- 1 to 14) assert(fixture.loaded(v.toLong) == expected(v), "nothing is deleted")
      fixture.faults.plan.clear()
      fixture.commit(store, 14, "k15" -> "15")
      assert(store.cleanup() > 0)
      for (v <- 9 to 15) assert(fixture.loaded(v.toLong) == expected(v), "what is retained stays")
    }

  test("a question for a file that fails does not say that it is not there (fault 10)") {
    val fixture = new StoreFixture
    fixture.commitMaintained(8)
    fixture.faults.plan.fail(Failure.Before)(call => call.what == "exists" || call.what == "list")
    val error = intercept[IOException](fixture.loaded(8))
    assert(error.getMessage.contains("injected: exists"))
    fixture.faults.plan.clear()
    assert(fixture.loaded(8) == expected(8))
  }

  test("a commit that hangs in its file, and is interrupted, leaves nothing visible (fault 12)") {
    val held = new HeldBlobStore(new MemoryBlobStore)
    val fixture = new StoreFixture {
      override protected def files: BlobStore = held
    }
    val store = fixture.open()
    fixture.commit(store, 0, "k1" -> "1")
    val gate = held.hold("2.delta", nth = 2)
    val task = new AtomicReference[Thread]
    val hangs = new Running({
      task.set(Thread.currentThread)
      val txn = store.begin(VersionId(1))
      put(txn, "k2", "other")
      try txn.commit()
      finally txn.abort()
    })
    gate.awaitArrival()
    assert(!held.exists(fixture.path("2.delta")))
    task.get.interrupt()
    intercept[InterruptedException](hangs.result())
    assert(held.list(fixture.location.folder) == Seq("1.delta"))
    fixture.commit(store, 1, "k2" -> "2")
    assert(rows(store.read(VersionId(2))) == expected(2) && fixture.loaded(2) == expected(2))
  }

  test("what a driver that lost has written is inert, and collected later (fault 13)") {
    val fixture = new StoreFixture
    val lost = fixture.open()
    val store = fixture.open()
    def commit(store: VersionedStore, base: VersionId, id: String) = {
      val txn = store.begin(base)
      put(txn, s"k${base.version + 1}", id)
      txn.commit(id, forceSnapshot = id == "lost")
    }
    def files = fixture.blobs.list(fixture.location.folder)
    var last = VersionId.Empty
    for (v <- 1 to 14) {
      if (v == 3) commit(lost, last, "lost")
      last = commit(store, last, "won")
      store.snapshotIfDue()
      store.cleanup()
      assert(rows(fixture.open().read(last)) == (1 to v).map(i => s"k$i" -> "won").toMap)
      assert(files.count(_.contains("lost")) == (if (v < 3 || v > 11) 0 else 2), s"version $v")
    }
  }

  test("executors whose clocks are a century apart keep and read what one would (fault 19)") {
    def lifeOf(years: Seq[Int]): StoreFixture = {
      val fixture = new StoreFixture(new MemoryBlobStore)
      for (v <- 1 to 14) {
        val second = Instant.parse(s"${years(v % years.size)}-01-01T00:00:00Z")
        // Each version is made, maintained and cleaned up after by the next executor.
        val store = new VersionedStore(
          fixture.location,
          fixture.settings,
          Seq(fixture.family),
          fixture.blobs,
          Clock.fixed(second, ZoneOffset.UTC),
          _ => (),
          _ => (),
          new ArenaMap(_, fixture.pool)
        )
        fixture.commit(store, v - 1L, s"k$v" -> v.toString)
        store.begin(VersionId(v.toLong)).abort()
        store.snapshotIfDue()
        store.cleanup()
        store.close()
      }
      fixture
    }
    val skewed = lifeOf(Seq(1990, 2090, 2026))
    val same = lifeOf(Seq(2026))
    def files(fixture: StoreFixture) = fixture.blobs.list(fixture.location.folder)
    assert(files(skewed) == files(same) && !files(same).contains("1.delta"))
    for (v <- 9 to 14) assert(skewed.loaded(v.toLong) == expected(v))
  }

  test("200 partitions on an executor keep to its budget, and say what they take (fault 20)") {
    val partitions = 200
    val budget = 8L << 20
    val disk = new FullDisk(room = Int.MaxValue)
    val pool = new PagePool(budget, Some(disk))
    val few = settings.copy(partitions = partitions, keyGroups = partitions)
    val stores = for (p <- 0 until partitions) yield {
      val fixture = new StoreFixture(
        location = StoreLocation(0, p, StoreLocation.DefaultStore),
        settings = few,
        pool = pool
      )
      (fixture, fixture.open())
    }
    def keys(p: Int, v: Int) = (0 until 300).map(i => i * v -> s"$p/${i * v}")
    def write(p: Int, v: Int): Unit = {
      val txn = stores(p)._2.begin(VersionId(v - 1L))
      for ((i, key) <- keys(p, v))
        txn.put(0, i * partitions + p, slice(key), slice(s"$v" * 100))
      txn.commit()
      txn.release()
    }
    for (v <- 1 to 2; p <- 0 until partitions) {
      write(p, v)
      assert(pool.allocatedBytes <= budget, s"version $v of partition $p")
    }
    val told = stores.map(_._2.memory)
    val files = told.map(_.total).sum - (pool.allocatedBytes + pool.mappedBytes - pool.freeBytes)
    assert(files > 0, "rows are in runs too")
    assert(told.map(_.offHeap).sum <= budget)
    for (p <- 0 until partitions) {
      val expected = (1 to 2).flatMap(v => keys(p, v).map(_._2 -> s"$v" * 100)).toMap
      val view = stores(p)._2.read(VersionId(2))
      assert(rows(view) == expected, s"partition $p")
      view.release()
    }
    stores.foreach(_._2.close())
    assert(pool.allocatedBytes == 0 && pool.mappedBytes == 0)
    disk.delete()
  }
}
