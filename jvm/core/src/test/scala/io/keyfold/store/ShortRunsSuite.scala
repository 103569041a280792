package io.keyfold.store

import java.util.UUID
import java.util.concurrent.Executor

import scala.collection.mutable

import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.file.StoreSettings
import io.keyfold.testkit.{Failure, Gate, Running}
import org.scalatest.funsuite.AnyFunSuite

/** Runs of a query that end before maintenance has its turn. */
class ShortRunsSuite extends AnyFunSuite {
  import StoreFixture._

  /** A store that is opened for each batch, and what it leaves for the background. */
  private class Runs(partition: Int = 1, set: StoreSettings = settings)
      extends StoreFixture(
        location = StoreLocation(0, partition, StoreLocation.DefaultStore),
        settings = set
      ) {
    val waiting: mutable.Queue[Runnable] = mutable.Queue.empty
    override protected def background: Executor = work => waiting.enqueue(work)

    /** Deltas that the last load has read. */
    var deltasRead = 0

    /** Runs version `v`, which puts `k<v> -> v`, and then `end`, while the process still lives. */
    def run(v: Int)(end: VersionedStore => Any = _ => ()): Unit = {
      val store = open()
      faults.plan.clear()
      put(begin(store, v - 1), v).commit()
      end(store)
      store.close()
      waiting.clear()
    }

    private def begin(store: VersionedStore, base: Int) = {
      val txn = store.begin(VersionId(base.toLong))
      val opened = faults.plan.calls.filter(_.what == "open").map(_.path).toSet
      // Of the delta that a snapshot was made from only the end is read.
      val below = opened.filter(_.endsWith(".snapshot")).map(_.replace(".snapshot", ".delta"))
      deltasRead = opened.count(path => path.endsWith(".delta") && !below(path))
      txn
    }

    private def put(txn: StoreTxn, v: Int) = {
      val hash = s"k$v".hashCode / settings.partitions * settings.partitions + location.partition
      txn.put(0, hash, slice(s"k$v"), slice(v.toString))
      txn
    }

    def runs(versions: Range)(end: VersionedStore => Any = _ => ()): Unit =
      versions.foreach(run(_)(end))

    def workOff(): Unit = while (waiting.nonEmpty) waiting.dequeue().run()

    def names: Seq[String] = blobs.list(location.folder)
    def snapshotFiles: Seq[String] = names.filter(_.endsWith(".snapshot"))
  }

  test("in runs of one batch each, loads read as much as is allowed, and files stay few") {
    val it = new Runs
    it.runs(1 to 20)(_ => it.workOff())
    for (v <- 21 to 300) {
      it.run(v)(_ => it.workOff())
      assert(it.deltasRead <= 3, s"at version $v")
      // Of the five versions that are retained, the oldest needs a snapshot and up to two more
      // deltas; what the last runs have added goes at the next snapshot.
      assert(it.names.length <= 15, s"at version $v")
    }
    assert(it.loaded(300) == expected(300) && it.loaded(295) == expected(295))
  }

  test("by bytes, too") {
    val deltaBytes = {
      val sizes = new Runs
      sizes.run(1)()
      sizes.blobs.bytes(sizes.path("1.delta")).length.toLong
    }
    val it = new Runs(set =
      settings.copy(deltasPerSnapshot = Int.MaxValue, deltaBytesPerSnapshot = 4 * deltaBytes)
    )
    for (v <- 1 to 100) {
      it.run(v)(_ => it.workOff())
      assert(it.deltasRead <= 4, s"at version $v")
    }
  }

  test("the committing thread does none of it, and a snapshot is only of what was loaded") {
    val it = new Runs
    it.runs(1 to 3)()
    it.blobs.counts.reset()
    it.run(4) { _ =>
      assert(it.blobs.counts.writes == 1 && it.blobs.counts.lists == 1 && it.waiting.size == 1)
      it.workOff()
      assert(it.snapshotFiles == Seq("3.snapshot"))
    }
    assert(it.loaded(4) == expected(4))
  }

  test("a load that reads less, a later batch of the run, a reader, an abort: nothing to do") {
    val it = new Runs
    it.runs(1 to 2)()
    it.run(3)(_ => assert(it.waiting.isEmpty))
    val store = it.open()
    store.read(VersionId(3)).release()
    store.begin(VersionId(3)).abort()
    store.close()
    assert(it.waiting.isEmpty)
    it.run(4) { store =>
      assert(it.waiting.size == 1)
      for (v <- 5 to 12) it.commit(store, v - 1L, s"k$v" -> v.toString)
      assert(it.waiting.size == 1)
    }
  }

  test("if runs make two versions each, the turn may be that of the second") {
    val it = new Runs
    it.run(1)()
    for (v <- 2 to 200 by 2) {
      it.run(v)(store => it.commit(store, v.toLong, s"k${v + 1}" -> (v + 1).toString))
      assert(it.deltasRead <= 18, s"at version $v")
    }
  }

  test("if no run lives long enough, one in ten waits: loads read twice as much, and ten more") {
    val it = new Runs
    var longest = 0
    for (v <- 1 to 200) {
      it.run(v)()
      longest = math.max(longest, it.deltasRead)
      assert(it.names.length <= 2 * 16 + 5 + 4, s"at version $v")
    }
    assert(longest > 6 && longest <= 2 * 3 + 10)
    assert(it.loaded(200) == expected(200))
  }

  test("partitions that are overdue at once do it themselves in different versions") {
    val all = (0 until 40).map(new Runs(_, settings.copy(partitions = 40, keyGroups = 40)))
    // Nobody has had a turn yet: the run was one of many batches.
    for (it <- all) it.run(1) { store =>
      for (v <- 2 to 20) {
        val txn = store.begin(VersionId(v - 1L))
        txn.put(0, it.location.partition, slice(s"k$v"), slice(v.toString))
        txn.commit()
      }
    }
    for (v <- 21 to 30) {
      val before = all.count(_.snapshotFiles.nonEmpty)
      all.foreach(_.run(v)())
      assert(all.count(_.snapshotFiles.nonEmpty) == before + 4)
    }
  }

  test("a run that ends once its snapshot is there has cleaned up before") {
    val it = new Runs
    for (v <- 1 to 100) {
      it.run(v) { _ =>
        it.faults.plan.fail(Failure.After)(c => c.what == "write" && c.path.endsWith(".snapshot"))
        it.workOff()
      }
      assert(it.names.length <= 15, s"at version $v")
    }
    assert(it.snapshotFiles.nonEmpty && it.loaded(100) == expected(100))
  }

  test("a failure of it fails no commit, whoever does it") {
    val it = new Runs
    it.faults.failWrite = _.endsWith(".snapshot")
    it.runs(1 to 30)(_ => it.workOff())
    assert(it.snapshotFiles.isEmpty && it.loaded(30) == expected(30))
  }

  test("a file whose writer was killed goes with its version") {
    val it = new Runs
    def unfinished(v: Int, of: String) =
      it.blobs.put(it.path(s".$v.$of.${UUID.randomUUID}.tmp"), Array[Byte](1))
    it.runs(1 to 30) { _ =>
      unfinished(it.names.length, "snapshot")
      it.workOff()
    }
    unfinished(40, "delta")
    it.blobs.put(it.path(".notes.txt"), Array[Byte](1))
    it.runs(31 to 50)(_ => it.workOff())
    val (kept, others) = it.names.filter(_.startsWith(".")).partition(_ == ".notes.txt")
    assert(kept.size == 1 && others.isEmpty)
  }

  test("maintenance that comes meanwhile waits, and does it no second time") {
    val it = new Runs
    it.runs(1 to 3)()
    it.run(4) { store =>
      val gate = hold(it)
      val upkeep = new Running(it.waiting.dequeue().run())
      gate.awaitArrival()
      val maintenance = new Running(store.snapshotIfDue())
      maintenance.awaitBlocked()
      gate.open()
      upkeep.result()
      assert(maintenance.result().isEmpty)
      assert(it.snapshotFiles == Seq("3.snapshot"))
    }
  }

  test("it leaves a store that is being maintained alone") {
    val it = new Runs
    it.runs(1 to 3)()
    it.run(4) { store =>
      val gate = hold(it)
      val maintenance = new Running(store.snapshotIfDue())
      gate.awaitArrival()
      it.workOff()
      assert(it.snapshotFiles.isEmpty)
      gate.open()
      assert(maintenance.result().contains(VersionId(3)))
    }
  }

  test("the store is closed before it has begun, or while it runs: the versions are whole") {
    val it = new Runs
    it.runs(1 to 3)()
    val store = it.open()
    it.commit(store, 3, "k4" -> "4")
    store.close()
    it.workOff()
    assert(it.snapshotFiles.isEmpty)
    val next = it.open()
    it.commit(next, 4, "k5" -> "5")
    val gate = hold(it)
    val upkeep = new Running(it.workOff())
    gate.awaitArrival()
    next.close()
    gate.open()
    upkeep.result()
    assert(it.snapshotFiles == Seq("4.snapshot"))
    for (v <- 1 to 3) it.blobs.delete(it.path(s"$v.delta"))
    assert(it.loaded(5) == expected(5))
  }

  private def hold(it: Runs): Gate =
    it.faults.plan.hold(call => call.what == "write" && call.path.endsWith(".snapshot"))
}
