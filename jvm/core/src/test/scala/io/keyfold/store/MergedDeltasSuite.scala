package io.keyfold.store

import java.io.{IOException, InterruptedIOException}

import io.keyfold.errors.StoreError
import io.keyfold.format.FileKind
import io.keyfold.io.Interrupts
import io.keyfold.model.VersionId
import io.keyfold.store.file.{SnapshotRepair, StoreSettings}
import io.keyfold.testkit.Failure
import org.scalatest.funsuite.AnyFunSuite

/** Deltas that maintenance merges, and what loads and retention make of them. */
class MergedDeltasSuite extends AnyFunSuite {
  import StoreFixture.settings

  private val merging =
    settings.copy(deltasPerSnapshot = 6, snapshotAfterShare = 1000, versionsToRetain = 100)
  private val few = merging.copy(versionsToRetain = 4)

  private def life(count: Int, settings: StoreSettings) = {
    val history = new History(ids = true, settings)
    for (version <- 1L to count.toLong) {
      history.commit(version)
      history.maintain()
    }
    history
  }

  private def requireRows(history: History, versions: Range): Unit =
    for (v <- versions.map(_.toLong))
      assert(history.loaded(history.id(v)) == history.attempt(v).map(_.rows), s"version $v")

  private def merged(history: History) =
    history.files.filter(_.endsWith(".merged")).sorted

  test("every version loads, from few files") {
    val history = life(60, merging)
    assert(merged(history).size > 5)
    assert(history.files.count(_.endsWith(".snapshot")) == 1)
    for (v <- 1L to 60L) {
      history.plan.clear()
      assert(history.loaded(history.id(v)) == history.attempt(v).map(_.rows), s"version $v")
      val opened = history.plan.calls.filter(_.what == "open").map(_.path).distinct
      assert(opened.size <= merging.deltasPerSnapshot + 2, s"version $v: $opened")
    }
  }

  test("of versions below the oldest retained one, merged deltas and a snapshot remain") {
    val history = life(60, few)
    val found = history.files.flatMap(FileKind.parse)
    val base = found.filter(_._2 != FileKind.Delta).map(_._1.version).filter(_ <= 55).max
    val older = found.filter(_._1.version < base)
    assert(older.nonEmpty && older.forall(_._2 != FileKind.Delta), older)
    assert(older.count(_._2 == FileKind.Snapshot) == 1)
    assert(history.files.size < 25)
    requireRows(history, 56 to 60)
    history.restart()
    for (v <- 61L to 80L) {
      history.commit(v)
      history.maintain()
    }
    requireRows(history, 76 to 80)
  }

  test("a snapshot takes the place of merged deltas, which go with the versions that need them") {
    val history = life(200, few.copy(snapshotAfterShare = 20))
    assert(merged(history).nonEmpty)
    assert(history.files.count(_.endsWith(".snapshot")) <= 2)
    requireRows(history, 196 to 200)
  }

  test("any damaged or lost merged delta is replaced by the deltas that it was made of") {
    val history = life(40, merging)
    for (file <- merged(history)) {
      val path = history.fixture.path(file)
      val whole = history.fixture.blobs.bytes(path)
      for (damaged <- Seq(Some(whole.dropRight(1)), None)) {
        damaged.fold(history.fixture.blobs.remove(path))(it =>
          history.fixture.blobs.update(path)(_ => it)
        )
        requireRows(history, 1 to 40)
        if (damaged.isEmpty) history.fixture.blobs.put(path, whole)
        else history.fixture.blobs.update(path)(_ => whole)
      }
    }
  }

  test("a merged delta that is gone is no damage: other files are read without leave to repair") {
    val never = SnapshotRepair(enabled = false, tries = 1, maxDeltas = 0)
    val history = life(40, merging.copy(repair = never))
    merged(history).foreach(file => history.fixture.blobs.remove(history.fixture.path(file)))
    requireRows(history, 1 to 40)
  }

  test("a merged delta with the name of another base is not used") {
    val history = life(40, merging)
    val blobs = history.fixture.blobs
    for (file <- merged(history); (version, kind) <- FileKind.parse(file)) {
      val other = FileKind.Merged(kind.base.get + 1).nameOf(version)
      if (kind.base.get + 1 < version.version && !history.files.contains(other)) {
        blobs.put(history.fixture.path(other), blobs.bytes(history.fixture.path(file)))
      }
    }
    requireRows(history, 1 to 40)
  }

  test("the oldest retained version loads after a listing that fails, also by a later merge") {
    val history = new History(ids = true, few)
    var listedAgain = 0
    for (v <- 1L to 60L) {
      history.commit(v)
      history.maintain()
      // Of the one before the newest, which is known to be committed.
      val oldest = math.max(v - 1 - few.versionsToRetain, 1)
      var listings = 0
      history.plan.decide { call =>
        if (call.what == "list") listings += 1
        Option.when(call.what == "list" && listings == 1)(Failure.Before)
      }
      val found = history.loaded(history.id(oldest))
      assert(found == history.attempt(oldest).map(_.rows), s"version $oldest")
      if (listings > 1) listedAgain += 1
      history.plan.decide(_ => None)
    }
    assert(listedAgain > 0)
  }

  test("the cleanup of a process that another has taken the store from deletes nothing") {
    val history = life(30, few)
    val stale = history.store
    history.store = history.fixture.open(few)
    for (v <- 31L to 33L) history.commit(v)
    val before = history.files
    assert(stale.cleanup() == 0 && history.files == before)
    stale.close()
  }

  test("nor does its first one, if it had the store before the other") {
    for (isTaken <- Seq(false, true)) {
      val history = new History(ids = true, few)
      history.commitMaintained(1 to 30)
      history.restart()
      val first = history.store
      history.confirm(30)
      if (isTaken) {
        history.store = history.fixture.open(few)
        history.commitMaintained(31 to 33)
      }
      assert((first.cleanup() == 0) == isTaken)
      first.close()
    }
  }

  test("versions that somebody has left behind stop no cleanup") {
    val history = life(30, few)
    val path = history.fixture.path("40_left.delta")
    history.fixture.blobs.put(
      path,
      history.fixture.blobs.bytes(history.fixture.path(s"30_${history.id(30).id}.delta"))
    )
    history.restart()
    for (v <- 31L to 50L) {
      history.commit(v)
      history.maintain()
    }
    assert(history.files.size < 25, history.files)
    requireRows(history, 46 to 50)
  }

  test("nor versions that a query has left behind which begins anew, without Spark's logs") {
    val history = new History(ids = true, few)
    for (name <- Seq("40_left.delta", "50_left.delta"))
      history.fixture.blobs.put(history.fixture.path(name), Array.empty[Byte])
    for (v <- 1L to 20L) {
      history.commit(v)
      history.maintain()
    }
    assert(!history.files.exists(_.startsWith("1_")), history.files)
    requireRows(history, 16 to 20)
  }

  test("two processes that maintain one store leave each other what they need") {
    val history = new History(ids = true, few)
    val other = history.fixture.open(few)
    for (v <- 1L to 120L) {
      history.commit(v)
      if (v % 3 == 0) other.begin(history.id(v)).abort()
      history.maintain()
      if (v % 2 == 0) {
        other.snapshotIfDue()
        other.cleanup()
      }
      if (v > 5 && v % 7 == 0) requireRows(history, (v - 4).toInt to v.toInt)
    }
    other.close()
  }

  test("deltas that cannot be merged lead to a snapshot") {
    val history = new History(ids = true, merging)
    for (v <- 1L to 7L) {
      history.commit(v)
      history.maintain()
    }
    for (v <- 8L to 14L) history.commit(v)
    val path = history.fixture.path(s"12_${history.id(12).id}.delta")
    history.fixture.blobs.update(path)(_.dropRight(1))
    history.confirm(14)
    history.maintain()
    assert(history.files.contains(s"14_${history.id(14).id}.snapshot"))
    requireRows(history, 14 to 14)
    assert(intercept[StoreError](history.loaded(history.id(12))).getMessage.contains("12_"))
  }

  test("a merge that is interrupted writes no snapshot in its place") {
    val history = life(7, merging)
    for (v <- 8L to 14L) history.commit(v)
    history.confirm(14)
    val before = history.files
    history.plan.decide { call =>
      if (call.what == "read") throw new InterruptedIOException("stopped")
      None
    }
    val thrown = intercept[IOException](history.store.snapshotIfDue())
    assert(Interrupts.mayBeInterrupt(thrown))
    assert(history.files == before)
    history.plan.decide(_ => None)
    assert(history.store.snapshotIfDue().contains(history.id(14)))
    assert(history.files.diff(before).forall(_.endsWith(".merged")))
  }

  test("large values that lie in different key groups are not all held to merge them") {
    val fixture = new StoreFixture(settings = merging.copy(deltasPerSnapshot = 4))
    val store = fixture.open()
    (1 to 9).foldLeft(VersionId.Empty) { (base, i) =>
      val txn = store.begin(base)
      StoreFixture.put(txn, s"key$i", s"$i" * (if (i > 5 && i < 9) 20 << 20 else 1))
      val version = txn.commit(s"a$i")
      txn.release()
      store.snapshotIfDue()
      version
    }
    val written = fixture.blobs.paths.filterNot(_.endsWith(".delta"))
    assert(written == Seq("4_a4.snapshot", "8_a8.snapshot").map(fixture.path))
  }

  test("a key group with more changes than the heap is to hold leads to a snapshot") {
    val fixture = new StoreFixture(settings = merging.copy(deltasPerSnapshot = 3))
    val store = fixture.open()
    def commit(base: VersionId, value: String) = {
      val txn = store.begin(base)
      StoreFixture.put(txn, "key", value)
      val version = txn.commit(s"a${base.version + 1}")
      txn.release()
      store.snapshotIfDue()
      version
    }
    val small = (1 to 4).foldLeft(VersionId.Empty)((base, i) => commit(base, s"$i"))
    val large = (5 to 9).foldLeft(small)((base, i) => commit(base, s"$i" * (15 << 20)))
    val merged = fixture.blobs.paths.filterNot(_.endsWith(".delta"))
    assert(merged == Seq("3_a3.snapshot", "6_a6.3.merged", "8_a8.snapshot").map(fixture.path))
    assert(fixture.loaded(large) == Map("key" -> "9" * (15 << 20)))
  }
}
