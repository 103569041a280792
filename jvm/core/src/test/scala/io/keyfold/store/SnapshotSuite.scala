package io.keyfold.store

import io.keyfold.errors.{CorruptFile, MissingFile, UnreadableVersion}
import io.keyfold.model.VersionId
import io.keyfold.store.file.SnapshotRepair
import io.keyfold.testkit.FileCall
import org.scalatest.funsuite.AnyFunSuite

/** When snapshots are written, what stands in for one that cannot be read, and versions that begin
  * anew.
  */
class SnapshotSuite extends AnyFunSuite {
  import StoreFixture._

  private val never = settings.copy(deltasPerSnapshot = Int.MaxValue)

  private def deltaBytes(fixture: StoreFixture, versions: Range) =
    versions.map(v => fixture.blobs.bytes(fixture.path(s"$v.delta")).length.toLong).sum

  test("a snapshot is due when deltas have so many bytes, in a store that wrote or loaded them") {
    val sizes = new StoreFixture
    sizes.commitVersions(4, never)
    val three = deltaBytes(sizes, 1 to 3)

    val fixture = new StoreFixture(settings = never.copy(deltaBytesPerSnapshot = three))
    val store = fixture.open()
    for (v <- 1 to 3) {
      fixture.commit(store, v - 1L, s"k$v" -> v.toString)
      assert(store.snapshotIfDue().isEmpty)
    }
    store.begin(VersionId(3)).abort()
    assert(store.snapshotIfDue().contains(VersionId(3)))

    val loaded = new StoreFixture(sizes.blobs, settings = fixture.settings)
    val other = loaded.open()
    other.read(VersionId(3)).release()
    assert(other.snapshotIfDue().contains(VersionId(3)))
    other.read(VersionId(4)).release()
    assert(other.snapshotIfDue().isEmpty)
  }

  private def damaged(snapshots: String*): StoreFixture = {
    val fixture = new StoreFixture
    fixture.commitMaintained(8)
    snapshots.foreach(s => fixture.blobs.update(fixture.path(s))(_.dropRight(1)))
    fixture
  }

  private def repairing(repair: SnapshotRepair) = settings.copy(repair = repair)

  test("without repair a damaged snapshot is an error that names the setting") {
    val fixture = damaged("6.snapshot")
    val store = fixture.open(repairing(SnapshotRepair(enabled = false, 1, 500)))
    val error = intercept[UnreadableVersion](store.read(VersionId(8)))
    assert(error.getMessage.contains("6.snapshot"))
    assert(error.getMessage.contains("autoSnapshotRepair.enabled"))
    assert(store.counters.snapshotFallbacks.sum == 0)
  }

  test("repair reads as many deltas as is allowed, and no more") {
    val fixture = damaged("6.snapshot")
    val enough = fixture.open(repairing(SnapshotRepair(enabled = true, 1, 5)))
    assert(rows(enough.read(VersionId(8))) == expected(8))
    assert(enough.counters.snapshotFallbacks.sum == 1)
    val short = fixture.open(repairing(SnapshotRepair(enabled = true, 1, 4)))
    val error = intercept[UnreadableVersion](short.read(VersionId(8)))
    assert(error.getMessage.contains("5 deltas"))
    assert(error.getMessage.contains("maxChangeFileReplay"))
  }

  test("the bound on deltas holds without any snapshot left, too") {
    val fixture = damaged("6.snapshot", "3.snapshot")
    val enough = fixture.open(repairing(SnapshotRepair(enabled = true, 1, 8)))
    assert(rows(enough.read(VersionId(8))) == expected(8))
    assert(enough.counters.snapshotFallbacks.sum == 2)
    val short = fixture.open(repairing(SnapshotRepair(enabled = true, 1, 7)))
    intercept[UnreadableVersion](short.read(VersionId(8)))
  }

  test("a snapshot is tried as often as is set before an older one is taken") {
    val fixture = damaged("6.snapshot")
    def opensWith(tries: Int) = {
      fixture.faults.plan.clear()
      fixture.open(repairing(SnapshotRepair(enabled = true, tries, 500))).read(VersionId(8))
      fixture.faults.plan.calls.count(_ == FileCall("open", fixture.path("6.snapshot")))
    }
    assert(opensWith(3) == 3 * opensWith(1))
  }

  test("a version that begins anew has its own rows only, as a snapshot without a delta") {
    val fixture = new StoreFixture
    fixture.commitMaintained(4)
    val store = fixture.open(settings.copy(keyGroups = 96))
    val txn = store.beginEmpty(VersionId(4))
    assert(rows(txn).isEmpty)
    put(txn, "only", "row")
    assert(txn.commit() == VersionId(5))
    assert(fixture.blobs.paths.contains(fixture.path("5.snapshot")))
    assert(!fixture.blobs.paths.contains(fixture.path("5.delta")))
    assert(fixture.snapshots.last == VersionId(5))
    assert(rows(store.read(VersionId(5))) == Map("only" -> "row"))

    for (from <- Seq(4L, 5L)) {
      val error = intercept[UnreadableVersion](store.changes(from, VersionId(5), "rows"))
      assert(error.getMessage.contains("version 5 does not build on deltas"), error.getMessage)
    }
    fixture.blobs.paths.filterNot(_.endsWith("/5.snapshot")).foreach(fixture.blobs.remove)
    assert(fixture.loaded(5) == Map("only" -> "row"))
    val next = fixture.open()
    fixture.commit(next, 5, "k6" -> "6")
    assert(fixture.loaded(6) == Map("only" -> "row", "k6" -> "6"))
    // The key groups of the checkpoint, not those that were set.
    assert(keyGroups(fixture, 6) == StoreFixture.KeyGroups)
  }

  test("a version that begins anew with its families has them as they were") {
    val fixture = new StoreFixture
    val before = fixture.open()
    val txn = before.begin(VersionId.Empty)
    txn.createFamily(listFamily.copy(name = "other", partitionKey = "first:1", keySchemaId = 3))
    put(txn, "a", "1")
    txn.commit()
    val again = fixture.open().beginEmptied(VersionId(1))
    assert(again.families.map(_.spec) == before.read(VersionId(1)).families.map(_.spec))
    assert(rows(again).isEmpty)
    again.commit()
    assert(fixture.loaded(2).isEmpty)
    assert(fixture.blobs.paths.contains(fixture.path("2.snapshot")))
    intercept[MissingFile](fixture.open().beginEmptied(VersionId(9)))
  }

  private def keyGroups(fixture: StoreFixture, version: Long) = {
    import io.keyfold.format.{FileKind, FileReader}
    val id = VersionId(version)
    FileReader
      .open(fixture.blobs, fixture.path(s"$version.delta"), id, FileKind.Delta)
      .footer
      .identity
      .keyGroups
  }

  test("a version that begins anew takes the place of what it was before a rollback") {
    val fixture = new StoreFixture
    fixture.commitMaintained(5)
    val store = fixture.open()
    put(store.beginEmpty(VersionId(4)), "gone", "")
    val txn = store.beginEmpty(VersionId(4))
    put(txn, "only", "row")
    txn.commit()
    assert(fixture.loaded(5) == Map("only" -> "row"))
    assert(fixture.loaded(4) == expected(4))
  }

  test("beginning anew stops at a head that cannot be read: it decides the key groups") {
    val fixture = new StoreFixture
    fixture.commitVersions(2)
    fixture.blobs.update(fixture.path("2.delta"))(_.dropRight(1))
    val error = intercept[UnreadableVersion](fixture.open().beginEmpty(VersionId(2)))
    assert(error.getCause.isInstanceOf[CorruptFile])
  }

  test("a cleanup deletes files of as many versions as is set, oldest first, and then goes on") {
    val fixture =
      new StoreFixture(settings = settings.copy(deletesPerCleanup = 2, versionsPerCleanup = 100))
    fixture.commitMaintained(12)
    val store = fixture.open(fixture.settings.copy(versionsPerCleanup = 1))
    store.read(VersionId(12)).release()
    // Version 6 is the newest snapshot that 12 - 5 needs: 1 to 5 may go.
    def left = fixture.blobs.list(fixture.location.folder).map(_.takeWhile(_.isDigit).toInt).min
    assert(store.cleanup() == 2 && left == 3)
    assert(store.cleanup() == 3 && left == 5)
    assert(store.cleanup() == 1 && left == 6)
    assert(store.cleanup() == 0 && left == 6)
    assert(fixture.loaded(7) == expected(7))
  }
}
