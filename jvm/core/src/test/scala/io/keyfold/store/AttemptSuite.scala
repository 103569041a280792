package io.keyfold.store

import io.keyfold.format.{FileKind, FileReader}
import io.keyfold.model.VersionId
import io.keyfold.store.file.StoreSettings
import io.keyfold.testkit.{FileCall, MemoryBlobStore, Running}
import org.scalatest.funsuite.AnyFunSuite

/** Several attempts at one version, and processes that go on after another has taken over. The
  * driver's word, the id, says which attempt counts.
  */
class AttemptSuite extends AnyFunSuite {
  import StoreFixture._

  /** Executors with a store each over the same files. */
  private class Executors(settings: StoreSettings = StoreFixture.settings) {
    private val blobs = new MemoryBlobStore
    val a = new StoreFixture(blobs, settings = settings)
    val b = new StoreFixture(blobs, settings = settings)
    val storeA: VersionedStore = a.open()
    val storeB: VersionedStore = b.open()

    def files: Seq[String] = blobs.list(a.location.folder)
    def has(file: String): Boolean = files.contains(file)
  }

  private def commit(
      store: VersionedStore,
      base: VersionId,
      id: String,
      force: Boolean = false
  ): VersionId = {
    val txn = store.begin(base)
    put(txn, s"k${base.version + 1}", id)
    txn.commit(id, force)
  }

  /** Versions on `base` up to number `last`, with maintenance. */
  private def goOn(store: VersionedStore, base: VersionId, last: Long, id: String): VersionId =
    (base.version + 1 to last).foldLeft(base) { (on, _) =>
      val next = commit(store, on, id)
      store.snapshotIfDue()
      store.cleanup()
      next
    }

  private def loaded(fixture: StoreFixture, version: VersionId): Map[String, String] = {
    val store = fixture.open()
    try rows(store.read(version))
    finally store.close()
  }

  /** Rows of a version that these attempts led to, from version 1 on. */
  private def rowsOf(ids: String*): Map[String, String] =
    ids.zipWithIndex.map { case (id, i) => s"k${i + 1}" -> id }.toMap

  private def lineage(fixture: StoreFixture, version: VersionId): Seq[String] = {
    val path = fixture.path(FileKind.Delta.nameOf(version))
    val file = FileReader.open(fixture.blobs, path, version, FileKind.Delta)
    file.footer.lineage.map(ancestor => FileKind.Delta.nameOf(ancestor.version))
  }

  test("of two attempts that write at once both are whole, each under its id (fault 1)") {
    val on = new Executors
    val base = commit(on.storeA, VersionId.Empty, "first")
    val gate = on.a.faults.plan.hold(_.path.endsWith("2_x.delta"))
    val x = new Running(commit(on.storeA, base, "x"))
    gate.awaitArrival()
    val y = commit(on.storeB, base, "y")
    val next = commit(on.storeB, y, "z")
    gate.open()
    assert(loaded(on.b, x.result()) == rowsOf("first", "x"))
    assert(loaded(on.b, y) == rowsOf("first", "y"))
    assert(loaded(on.b, next) == rowsOf("first", "y", "z"))
    assert(rows(on.storeA.read(next)) == rowsOf("first", "y", "z"))
  }

  test("a store that holds one attempt reads the other one when that has won") {
    val on = new Executors
    val base = commit(on.storeA, VersionId.Empty, "first")
    val x = commit(on.storeA, base, "x")
    val y = commit(on.storeB, base, "y")
    for ((store, won, ids) <- Seq((on.storeA, y, "y"), (on.storeB, x, "x"), (on.storeB, y, "y"))) {
      val txn = store.begin(won)
      assert(rows(txn) == rowsOf("first", ids))
      txn.abort()
    }
  }

  test("an attempt after another of the same version, in one store: both stay readable") {
    val on = new Executors
    val base = commit(on.storeA, VersionId.Empty, "first")
    val x = commit(on.storeA, base, "x")
    val y = commit(on.storeA, base, "y")
    for ((version, id) <- Seq(x -> "x", y -> "y", x -> "x")) {
      assert(rows(on.storeA.read(version)) == rowsOf("first", id))
      assert(loaded(on.b, version) == rowsOf("first", id))
    }
  }

  test("the lineage of a version names the attempts that it was built on, and no others") {
    val on = new Executors
    var base = VersionId.Empty
    for (v <- 1 to 4) {
      val before = base
      commit(on.storeA, before, s"lost$v")
      base = commit(on.storeA, before, s"won$v")
    }
    val won = Seq("3_won3.delta", "2_won2.delta", "1_won1.delta")
    assert(lineage(on.a, base) == won)
    val next = commit(on.storeB, base, "won5")
    assert(lineage(on.b, next) == "4_won4.delta" +: won)
    assert(loaded(on.b, next) == rowsOf((1 to 5).map(v => s"won$v"): _*))
  }

  test("a snapshot of an attempt that lost is never the base of the one that won (fault 3)") {
    val on = new Executors
    val base = commit(on.storeA, VersionId.Empty, "first")
    commit(on.storeA, base, "lost", force = true)
    assert(on.has("2_lost.snapshot"))
    val won = commit(on.storeB, base, "won")
    val last = goOn(on.storeB, won, 6, "later")
    for (fixture <- Seq(on.a, on.b))
      assert(loaded(fixture, last) == rowsOf("first", "won", "later", "later", "later", "later"))
    assert(rows(on.storeA.read(last)) == loaded(on.b, last))
  }

  test("a zombie's maintenance writes no snapshot of an attempt that nobody built on (fault 3)") {
    val on = new Executors(settings.copy(deltasPerSnapshot = 1))
    val base = commit(on.storeA, VersionId.Empty, "first")
    commit(on.storeA, base, "lost")
    val won = commit(on.storeB, base, "won")
    val last = commit(on.storeB, won, "later")
    assert(on.storeA.snapshotIfDue().contains(base))
    assert(on.files.filter(_.endsWith("snapshot")) == Seq("1_first.snapshot"))
    assert(loaded(on.b, last) == rowsOf("first", "won", "later"))
  }

  for (id <- Seq("", "good")) {
    val format = if (id.isEmpty) "v1" else "v2"

    test(s"format $format: a zombie that cleans up takes nothing away that is retained (fault 3)") {
      val on = new Executors
      val moved = goOn(on.storeA, VersionId.Empty, 10, id)
      // What the zombie still has at hand was never committed.
      commit(on.storeA, moved, if (id.isEmpty) "" else "lost")
      val last = goOn(on.storeB, moved, 20, id)
      on.storeA.snapshotIfDue()
      on.storeA.cleanup()
      for (v <- 14L to 20L)
        assert(loaded(on.b, VersionId(v, id)) == rowsOf(Seq.fill(v.toInt)(id): _*))
      assert(rows(on.storeB.read(last)) == loaded(on.b, last))
    }

    test(
      s"format $format: a snapshot that a zombie finishes late is garbage, or the same (fault 3)"
    ) {
      val on = new Executors
      val moved = (1 to 4).foldLeft(VersionId.Empty)((base, _) => commit(on.storeA, base, id))
      on.storeA.begin(moved).abort()
      val gate = on.a.faults.plan.hold(_ == FileCall("write", on.a.path(s"$moved.snapshot")))
      val late = new Running(on.storeA.snapshotIfDue())
      gate.awaitArrival()
      val last = goOn(on.storeB, moved, 14, id)
      assert(!on.has(s"$moved.delta"), "B has cleaned up beyond it")
      gate.open()
      assert(late.result().contains(moved))
      assert(on.has(s"$moved.snapshot"))
      for (v <- 8L to 14L)
        assert(loaded(on.b, VersionId(v, id)) == rowsOf(Seq.fill(v.toInt)(id): _*))
      goOn(on.storeB, last, 17, id)
      assert(!on.has(s"$moved.snapshot"), "retention leaves a late snapshot behind")
    }
  }

  test("a version whose delta is gone is read from its snapshot, and built on (fault 8)") {
    val fixture = new StoreFixture
    fixture.commitMaintained(4)
    fixture.blobs.delete(fixture.path("3.delta"))
    assert(fixture.loaded(3) == expected(3))
    assert(fixture.loaded(4) == expected(4))
    fixture.commit(fixture.open(), 3, "k4" -> "again")
    assert(fixture.loaded(4) == expected(3) + ("k4" -> "again"))
  }

  test("an abort in a thread that was interrupted leaves the store as it was (fault 17)") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1")
    val txn = store.begin(VersionId(1))
    put(txn, "b", "2")
    Thread.currentThread.interrupt()
    try txn.abort()
    finally require(Thread.interrupted(), "the thread stays interrupted")
    fixture.commit(store, 1, "c" -> "3")
    assert(rows(store.read(VersionId(2))) == Map("a" -> "1", "c" -> "3"))
    assert(fixture.loaded(2) == Map("a" -> "1", "c" -> "3"))
  }

  test("format v1: a zombie that commits a version late, with the same rows, loses no version") {
    val blobs = new MemoryBlobStore
    val few = settings.copy(versionsToRetain = 2)
    val zombie = new StoreFixture(blobs, settings = few)
    val taken = new StoreFixture(blobs, settings = few)
    zombie.commitMaintained(5)
    val late = zombie.open().begin(VersionId(5))
    put(late, "k6", "6")
    val store = taken.open()
    for (v <- 6 to 9) {
      taken.commit(store, v - 1L, s"k$v" -> v.toString)
      store.snapshotIfDue()
      store.cleanup()
    }
    store.begin(VersionId(9)).abort()
    store.cleanup()
    assert(blobs.exists(taken.path("6.snapshot")) && !blobs.exists(taken.path("5.delta")))
    late.commit()
    for (v <- 7 to 9) assert(taken.loaded(v.toLong) == expected(v), s"version $v")
  }

  test("a cursor goes on when its store is closed; after an abort it does no harm (fault 18)") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, (1 to 20).map(i => s"k$i" -> "v"): _*)
    val view = store.read(VersionId(1))
    val cursor = view.scan(0)
    assert(cursor.next())
    val txn = store.begin(VersionId(1))
    val ofAborted = txn.scan(0)
    assert(ofAborted.next())
    txn.abort()
    while (ofAborted.next()) ofAborted.key
    store.close()
    assert(rows(cursor).size == 19)
    view.release()
  }
}
