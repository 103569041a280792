package io.keyfold.store

import io.keyfold.format.{Ancestor, FileKind, FileReader}
import io.keyfold.model.VersionId
import io.keyfold.store.file.StoreSettings
import io.keyfold.testkit.{FileCall, Gate, Running}
import org.scalatest.funsuite.AnyFunSuite

/** Maintenance beside itself, beside commits and beside `close`, as sequences of phases. */
class MaintenanceRaceSuite extends AnyFunSuite {
  import StoreFixture._

  /** A store that is due to write the snapshot of version 4, and the fixture. */
  private def due(settings: StoreSettings = settings): (StoreFixture, VersionedStore) = {
    val fixture = new StoreFixture(settings = settings)
    val store = fixture.open()
    for (v <- 1 to 4) fixture.commit(store, v - 1L, s"k$v" -> v.toString)
    store.begin(VersionId(4)).abort()
    (fixture, store)
  }

  /** A store that is due to delete the files of versions 1 to 5. */
  private def dueToClean(): (StoreFixture, VersionedStore) = {
    val fixture = new StoreFixture(settings = settings.copy(versionsToRetain = 2))
    fixture.commitMaintained(10)
    val store = fixture.open()
    store.begin(VersionId(10)).abort()
    (fixture, store)
  }

  private def hold(fixture: StoreFixture, what: String, file: String): Gate =
    fixture.faults.plan.hold { case FileCall(w, path, _) => w == what && path.endsWith(file) }

  private def requireRows(fixture: StoreFixture, versions: Range): Unit =
    for (v <- versions) assert(fixture.loaded(v.toLong) == expected(v), s"version $v")

  test("two snapshots of one version at once: both end, and the file is whole (fault 16)") {
    val (fixture, store) = due()
    val gate = hold(fixture, "write", "4.snapshot")
    val first = new Running(store.snapshotIfDue())
    gate.awaitArrival()
    assert(store.snapshotIfDue().contains(VersionId(4)))
    gate.open()
    assert(first.result().contains(VersionId(4)))
    for (v <- 1 to 3) fixture.blobs.delete(fixture.path(s"$v.delta"))
    requireRows(fixture, 4 to 4)
    assert(store.snapshotIfDue().isEmpty)
  }

  test("two cleanups at once: both end, and nothing that is retained is lost (fault 16)") {
    val (fixture, store) = dueToClean()
    val other = fixture.open()
    other.begin(VersionId(10)).abort()
    val gate = hold(fixture, "delete", "1.delta")
    val first = new Running(store.cleanup())
    gate.awaitArrival()
    assert(other.cleanup() > 0)
    gate.open()
    assert(first.result() > 0)
    requireRows(fixture, 6 to 10)
    assert(!fixture.blobs.exists(fixture.path("5.delta")))
  }

  test("commits go on beside a snapshot that is slow, and build on it once it is durable") {
    val (fixture, store) = due()
    val gate = hold(fixture, "write", "4.snapshot")
    val slow = new Running(store.snapshotIfDue())
    gate.awaitArrival()
    for (v <- 5 to 8) fixture.commit(store, v - 1L, s"k$v" -> v.toString)
    assert(rows(store.read(VersionId(8))) == expected(8))
    gate.open()
    assert(slow.result().contains(VersionId(4)))
    fixture.commit(store, 8, "k9" -> "9")
    val path = fixture.path("9.delta")
    val head = FileReader.open(fixture.blobs, path, VersionId(9), FileKind.Delta)
    assert(head.footer.lineage.last == Ancestor(VersionId(4), FileKind.Snapshot))
    for (v <- 1 to 4) fixture.blobs.delete(fixture.path(s"$v.delta"))
    requireRows(fixture, 4 to 9)
  }

  test("a snapshot goes on when the store is closed beneath it, and is whole (fault 16)") {
    val (fixture, store) = due()
    val gate = hold(fixture, "write", "4.snapshot")
    val slow = new Running(store.snapshotIfDue())
    gate.awaitArrival()
    store.close()
    gate.open()
    assert(slow.result().contains(VersionId(4)))
    for (v <- 1 to 3) fixture.blobs.delete(fixture.path(s"$v.delta"))
    requireRows(fixture, 4 to 4)
    assert(store.snapshotIfDue().isEmpty && store.cleanup() == 0)
  }

  test("a cleanup goes on when the store is closed beneath it; the next store ends the work") {
    val (fixture, store) = dueToClean()
    val gate = hold(fixture, "delete", "3.snapshot")
    val slow = new Running(store.cleanup())
    gate.awaitArrival()
    store.close()
    requireRows(fixture, 6 to 10)
    gate.open()
    slow.result()
    requireRows(fixture, 6 to 10)
    assert(!fixture.blobs.exists(fixture.path("5.delta")))
  }

  test("a commit whose store is closed while it writes counts: its file is there") {
    val (fixture, store) = due()
    val gate = hold(fixture, "write", "5.delta")
    val commit = new Running(fixture.commit(store, 4, "k5" -> "5"))
    gate.awaitArrival()
    store.close()
    assert(store.memory.total == 0)
    gate.open()
    assert(commit.result() == VersionId(5))
    requireRows(fixture, 4 to 5)
  }

  test("a transaction that was begun before its store is closed goes on") {
    val fixture = new StoreFixture
    fixture.commitVersions(2)
    val store = fixture.open()
    val txn = store.begin(VersionId(2))
    store.close()
    assert(rows(txn) == expected(2))
    put(txn, "k3", "3")
    txn.commit()
    assert(fixture.loaded(3) == expected(3))
  }

  test("the same store is opened again while the old one still maintains: both do no harm") {
    val (fixture, old) = due(settings.copy(versionsToRetain = 1))
    val gate = hold(fixture, "write", "4.snapshot")
    val slow = new Running({
      old.snapshotIfDue()
      old.cleanup()
    })
    gate.awaitArrival()
    val taken = fixture.open()
    for (v <- 5 to 12) {
      fixture.commit(taken, v - 1L, s"k$v" -> v.toString)
      taken.snapshotIfDue()
      taken.cleanup()
    }
    gate.open()
    slow.result()
    old.close()
    requireRows(fixture, 10 to 12)
    fixture.commit(taken, 12, "k13" -> "13")
    requireRows(fixture, 10 to 13)
  }
}
