package io.keyfold.store

import io.keyfold.errors.UnreadableVersion
import io.keyfold.model.VersionId
import io.keyfold.store.file.{SnapshotRepair, StoreSettings}
import io.keyfold.testkit.{FileCall, FileContents, Running}
import org.scalatest.funsuite.AnyFunSuite

/** Without ids, versions that were gone back from and made again have the names of the old ones: a
  * store that still has the old ones in memory may write a snapshot late.
  */
class TimelineSuite extends AnyFunSuite {
  import StoreFixture._

  /** A store that has versions 1 to 9 and is due to write the snapshot of version 9. */
  private class Old(settings: StoreSettings = settings) {
    val fixture = new StoreFixture(settings = settings)
    val store: VersionedStore = fixture.open()
    for (v <- 1 to 9) fixture.commit(store, v - 1L, s"k$v" -> "old")
    store.begin(VersionId(9)).abort()

    /** What a rollback to version 5 does, and versions 6 to `last` after it, in another store.
      *
      * @param maintain
      *   after each of them
      */
    def goBackAndOn(last: Int, maintain: Boolean = false): Unit = {
      val newer = (6 to 9).flatMap(v => Seq(s"/$v.delta", s"/$v.snapshot"))
      fixture.blobs.paths.filter(p => newer.exists(p.endsWith)).foreach(fixture.blobs.remove)
      goOn(6 to last, maintain)
    }

    def goOn(versions: Range, maintain: Boolean = false): Unit = {
      val next = fixture.open()
      for (v <- versions) {
        fixture.commit(next, v - 1L, s"k$v" -> "new")
        if (maintain) {
          next.snapshotIfDue()
          next.cleanup()
        }
      }
      next.close()
    }

    def has(file: String): Boolean = fixture.blobs.exists(fixture.path(file))

    def require(versions: Range): Unit = for (v <- versions) {
      val expected = (1 to v).map(i => s"k$i" -> (if (i <= 5) "old" else "new")).toMap
      assert(fixture.loaded(v.toLong) == expected, s"version $v")
    }
  }

  test("a store that was gone back from writes no snapshot once its version was made again") {
    val it = new Old
    it.goBackAndOn(10)
    assert(it.store.snapshotIfDue().isEmpty)
    assert(!it.has("9.snapshot"))
    it.require(5 to 10)
  }

  test("a snapshot that was begun before the rollback and ends after it is passed over") {
    val it = new Old
    val gate = it.fixture.faults.plan.hold(_ == FileCall("write", it.fixture.path("9.snapshot")))
    val late = new Running(it.store.snapshotIfDue())
    gate.awaitArrival()
    it.goBackAndOn(10)
    gate.open()
    assert(late.result().contains(VersionId(9)))
    assert(it.has("9.snapshot"))
    it.require(5 to 10)
    val error = intercept[UnreadableVersion] {
      it.fixture.open().readReplayed(VersionId(9), VersionId(10))
    }
    assert(error.getMessage.contains("from the snapshot of version 9"))
    // Nor is it in the way of what comes after, with repair switched off.
    val strict = settings.copy(repair = SnapshotRepair(enabled = false, 1, 1))
    val view = it.fixture.open(strict).read(VersionId(10))
    assert(rows(view) == it.fixture.loaded(10))
  }

  test("a late snapshot between the rollback and the version's return gives way to it") {
    val it = new Old
    it.goBackAndOn(7)
    assert(it.store.snapshotIfDue().contains(VersionId(9)))
    it.goOn(8 to 10)
    it.require(5 to 10)
  }

  test("retention keeps what versions need that a late snapshot does not give") {
    val it = new Old(settings.copy(versionsToRetain = 1))
    val gate = it.fixture.faults.plan.hold(_ == FileCall("write", it.fixture.path("9.snapshot")))
    val late = new Running(it.store.snapshotIfDue())
    gate.awaitArrival()
    it.goBackAndOn(9)
    gate.open()
    late.result()
    for (v <- 10 to 20) {
      it.goOn(v to v, maintain = true)
      it.require(v - 2 to v)
    }
    assert(!it.has("9.snapshot") && !it.has("9.delta"))
  }

  test("a snapshot counts when the delta of its version is gone, or damaged") {
    for (damage <- Seq[Array[Byte] => Array[Byte]](_.dropRight(1), _ => Array.emptyByteArray)) {
      val fixture = new StoreFixture
      fixture.commitMaintained(5)
      for (v <- 1 to 2) fixture.blobs.remove(fixture.path(s"$v.delta"))
      fixture.blobs.update(fixture.path("3.delta"))(damage)
      for (v <- 3 to 5) assert(fixture.loaded(v.toLong) == expected(v))
      fixture.blobs.remove(fixture.path("3.delta"))
      for (v <- 3 to 5) assert(fixture.loaded(v.toLong) == expected(v))
    }
  }

  test("a snapshot names the head that the store has loaded, or has written") {
    val fixture = new StoreFixture
    fixture.commitVersions(4)
    val loaded = fixture.open()
    loaded.read(VersionId(4)).release()
    assert(loaded.snapshotIfDue().contains(VersionId(4)))
    for (v <- 5 to 8) fixture.commit(loaded, v - 1L, s"k$v" -> v.toString)
    assert(loaded.snapshotIfDue().contains(VersionId(7)))
    for (v <- Seq(4, 7)) {
      val delta = FileContents.open(fixture.blobs, fixture.path(s"$v.delta"))
      val snapshot = FileContents.open(fixture.blobs, fixture.path(s"$v.snapshot"))
      assert(snapshot.footer.head.contains(delta.fingerprint))
    }
  }

  test("with ids no snapshot names a head, and a load reads no file more") {
    def opens(id: String) = {
      val fixture = new StoreFixture
      val store = fixture.open()
      for (v <- 1L to 5L) {
        val txn = store.begin(VersionId(v - 1, if (v == 1) "" else id))
        put(txn, s"k$v", "x")
        txn.commit(id)
        store.snapshotIfDue()
      }
      val snapshot = FileContents.open(fixture.blobs, fixture.path(s"${VersionId(3, id)}.snapshot"))
      fixture.blobs.counts.reset()
      fixture.open().read(VersionId(5, id)).release()
      (snapshot.footer.head.isDefined, fixture.blobs.counts.opens)
    }
    assert(opens("x") == ((false, 4L)))
    assert(opens("") == ((true, 5L)))
  }
}
