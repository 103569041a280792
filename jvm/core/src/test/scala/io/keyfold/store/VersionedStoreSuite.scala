package io.keyfold.store

import java.io.IOException

import io.keyfold.errors.{FamilyMismatch, MissingFile, OutOfOrder}
import io.keyfold.format.{Ancestor, FileKind, FileReader}
import io.keyfold.io.BlobStore
import io.keyfold.model.VersionId
import io.keyfold.testkit.{LaggingBlobStore, MemoryBlobStore}
import org.scalatest.funsuite.AnyFunSuite

/** The life of versions in one store, without damage; see [[BadInputSuite]] for that. */
class VersionedStoreSuite extends AnyFunSuite {
  import StoreFixture._

  test("a committed version is read by another store, from its file") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val txn = store.begin(VersionId.Empty)
    put(txn, "a", "1")
    put(txn, "b", "2")
    assert(get(txn, "a").contains("1"))
    assert(txn.commit() == VersionId(1))
    assert(fixture.loaded(1) == Map("a" -> "1", "b" -> "2"))
  }

  test("a version holds puts, overwrites and removes on top of the one before") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1", "b" -> "2", "c" -> "3")
    val txn = store.begin(VersionId(1))
    put(txn, "a", "10")
    assert(remove(txn, "b"))
    assert(!remove(txn, "nothing"))
    put(txn, "fleeting", "x")
    assert(remove(txn, "fleeting"))
    assert(txn.families.head.keys == 2)
    txn.commit()
    assert(rows(store.read(VersionId(2))) == Map("a" -> "10", "c" -> "3"))
    assert(fixture.loaded(2) == Map("a" -> "10", "c" -> "3"))
    assert(fixture.loaded(1) == Map("a" -> "1", "b" -> "2", "c" -> "3"))
  }

  test("a version in which nothing changed has a head and the rows of the one before") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1")
    fixture.commit(store, 1)
    assert(fixture.blobs.exists(fixture.path("2.delta")))
    assert(fixture.loaded(2) == Map("a" -> "1"))
  }

  test("an aborted transaction leaves neither rows nor files, and ends (fault 17)") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1")
    val txn = store.begin(VersionId(1))
    put(txn, "b", "2")
    txn.abort()
    txn.abort()
    assert(fixture.blobs.list(fixture.location.folder) == Seq("1.delta"))
    assert(rows(store.read(VersionId(1))) == Map("a" -> "1"))
    for (use <- Seq[() => Any](() => put(txn, "c", "3"), () => get(txn, "a"), () => txn.commit())) {
      assert(intercept[OutOfOrder](use()).getMessage.contains("already aborted"))
    }
  }

  test("after its commit a transaction can be read, but not written") {
    val store = new StoreFixture().open()
    val txn = store.begin(VersionId.Empty)
    put(txn, "a", "1")
    val open = txn.scan(0)
    txn.commit()
    txn.abort()
    assert(txn.isCommitted)
    assert(rows(open) == Map("a" -> "1"))
    assert(get(txn, "a").contains("1"))
    assert(intercept[OutOfOrder](put(txn, "b", "2")).getMessage.contains("already committed"))
  }

  test("beginning at an older version gives up what was committed after it") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1")
    fixture.commit(store, 1, "lost" -> "1")
    fixture.commit(store, 1, "kept" -> "1")
    assert(rows(store.read(VersionId(2))) == Map("a" -> "1", "kept" -> "1"))
    assert(fixture.loaded(2) == Map("a" -> "1", "kept" -> "1"))
  }

  test("a commit whose file cannot be written changes nothing; the retry succeeds") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1")
    val txn = store.begin(VersionId(1))
    put(txn, "b", "2")
    fixture.faults.failWrite = _ => true
    intercept[IOException](txn.commit())
    fixture.faults.failWrite = _ => false
    assert(!txn.isCommitted)
    txn.abort()
    assert(!fixture.blobs.exists(fixture.path("2.delta")))
    fixture.commit(store, 1, "b" -> "3")
    assert(fixture.loaded(2) == Map("a" -> "1", "b" -> "3"))
  }

  test("a view stays what it was while later versions are committed and let go") {
    val store = new StoreFixture
    val versions = store.open()
    store.commit(versions, 0, "a" -> "1")
    val view = versions.read(VersionId(1))
    for (v <- 1 to 5) store.commit(versions, v.toLong, "a" -> s"${v + 1}", s"b$v" -> "x")
    assert(rows(view) == Map("a" -> "1"))
    view.release()
  }

  test("reading an old version does not push the newest out of memory") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 0 to 5) fixture.commit(store, v.toLong, s"k${v + 1}" -> (v + 1).toString)
    assert(rows(store.read(VersionId(2))) == expected(2))
    fixture.blobs.counts.reset()
    assert(rows(store.read(VersionId(6))) == expected(6))
    assert(fixture.blobs.counts.opens == 0)
  }

  test("a version in memory is begun without touching a file") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1")
    fixture.blobs.counts.reset()
    store.begin(VersionId(1)).abort()
    val counts = fixture.blobs.counts
    assert(counts.opens == 0 && counts.exists == 0 && counts.lists == 0)
  }

  test("a load opens each file of its chain once, after one listing; a commit asks for nothing") {
    val fixture = new StoreFixture
    fixture.commitVersions(10)
    // So that no snapshot is due.
    val store = fixture.open(fixture.settings.copy(deltasPerSnapshot = 100))
    val counts = fixture.blobs.counts
    counts.reset()
    store.read(VersionId(10)).release()
    // The head is opened to find the others, and again to read its rows.
    assert((counts.lists, counts.opens, counts.exists) == ((1, 11, 0)))
    counts.reset()
    val txn = store.begin(VersionId(10))
    put(txn, "b", "2")
    txn.commit("id")
    assert((counts.lists, counts.opens, counts.exists, counts.writes) == ((0, 0, 0, 1)))
  }

  private def listingsOf(
      fixture: StoreFixture
  ): Seq[(String, Map[String, Long] => Map[String, Long])] = {
    val before = fixture.blobs.lengths(fixture.location.folder)
    Seq(
      "is empty" -> (_ => Map.empty),
      "lacks snapshots" -> (_.filterNot(_._1.endsWith("snapshot"))),
      "lacks deltas" -> (_.filterNot(_._1.endsWith("delta"))),
      "has other lengths" -> (_.map { case (name, length) => name -> (length - 1) }),
      "has larger lengths" -> (_.map { case (name, length) => name -> (length + 1000) }),
      "has what is not there" -> (_ ++ Seq("8.snapshot" -> 100L, "7.reference" -> 5L)),
      "is of before" -> (_ => before)
    )
  }

  for (i <- 0 to 6) {
    val name = listingsOf(new StoreFixture)(i)._1
    test(s"a load gives the version though the listing $name (fault 10)") {
      val all = new MemoryBlobStore
      val plain = new StoreFixture(all)
      plain.commitMaintained(4)
      val listing = listingsOf(plain)(i)._2
      val fixture = new StoreFixture(all) {
        override protected def files: BlobStore = new LaggingBlobStore(all, listing)
      }
      val writing = plain.open()
      for (v <- 5 to 8) plain.commit(writing, v - 1L, s"k$v" -> v.toString)
      writing.read(VersionId(8)).release()
      assert(writing.snapshotIfDue().contains(VersionId(8)))
      // Only the newest snapshot gives it now.
      for (v <- 1 to 7; kind <- Seq("delta", "snapshot")) all.remove(plain.path(s"$v.$kind"))
      assert(fixture.loaded(8) == expected(8))
    }
  }

  test("a version that was never committed is missing, by name") {
    val fixture = new StoreFixture
    fixture.commitVersions(1)
    val error = intercept[MissingFile](fixture.loaded(2))
    assert(error.condition == "KEYFOLD_FILE_MISSING")
    assert(
      error.getMessage.contains("operator 0 partition 1 store default version 2 does not exist")
    )
    assert(error.path.endsWith("2.delta"))
  }

  test("maintenance writes a snapshot once there are enough deltas, and then not again") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "k1" -> "1")
    fixture.commit(store, 1, "k2" -> "2")
    assert(store.snapshotIfDue().isEmpty)
    fixture.commit(store, 2, "k3" -> "3")
    store.begin(VersionId(3)).abort()
    assert(store.snapshotIfDue().contains(VersionId(3)))
    assert(store.snapshotIfDue().isEmpty)
    assert(fixture.snapshots == Seq(VersionId(3)))
    assert(fixture.loaded(3) == expected(3))
  }

  test("a version that nobody has built on gets no snapshot") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 3) fixture.commit(store, v - 1L, s"k$v" -> v.toString)
    assert(store.snapshotIfDue().isEmpty)
    fixture.commit(store, 3, "k4" -> "4")
    assert(store.snapshotIfDue().contains(VersionId(3)))
  }

  test("a load reads the newest snapshot and the deltas after it, nothing older") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 5) {
      fixture.commit(store, v - 1L, s"k$v" -> v.toString)
      store.snapshotIfDue()
    }
    assert(fixture.blobs.exists(fixture.path("3.snapshot")))
    for (v <- 1 to 3) fixture.blobs.delete(fixture.path(s"$v.delta"))
    assert(fixture.loaded(5) == expected(5))
  }

  test("a load finds a snapshot that is newer than the lineage of the head says") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 4) fixture.commit(store, v - 1L, s"k$v" -> v.toString)
    store.begin(VersionId(4)).abort()
    assert(store.snapshotIfDue().contains(VersionId(4)))
    for (v <- 1 to 3) fixture.blobs.delete(fixture.path(s"$v.delta"))
    assert(fixture.loaded(4) == expected(4))
    assert(fixture.snapshots.last == VersionId(4), "the load reports the snapshot it found")
  }

  test("the lineage of a head goes down to the newest durable snapshot") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 6) {
      fixture.commit(store, v - 1L, s"k$v" -> v.toString)
      store.snapshotIfDue()
    }
    def lineage(v: Long, kind: FileKind) = {
      val path = fixture.path(kind.nameOf(VersionId(v)))
      val file = FileReader.open(fixture.blobs, path, VersionId(v), kind)
      file.footer.lineage
    }
    def delta(v: Long) = Ancestor(VersionId(v), FileKind.Delta)
    def snapshot(v: Long) = Ancestor(VersionId(v), FileKind.Snapshot)
    assert(lineage(1, FileKind.Delta) == Nil)
    assert(lineage(3, FileKind.Delta) == Seq(delta(2), delta(1)))
    assert(lineage(3, FileKind.Snapshot) == Seq(delta(2), delta(1)))
    assert(lineage(5, FileKind.Delta) == Seq(delta(4), snapshot(3)))
    val reopened = fixture.open()
    fixture.commit(reopened, 6, "k7" -> "7")
    assert(lineage(7, FileKind.Delta) == Seq(delta(6), delta(5), delta(4), snapshot(3)))
  }

  test("a forced snapshot is written with the commit; its failure does not fail the commit") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val first = store.begin(VersionId.Empty)
    put(first, "k1", "1")
    first.commit(forceSnapshot = true)
    assert(fixture.blobs.exists(fixture.path("1.delta")))
    assert(fixture.blobs.exists(fixture.path("1.snapshot")))
    val second = store.begin(VersionId(1))
    put(second, "k2", "2")
    fixture.faults.failWrite = _.endsWith(".snapshot")
    second.commit(forceSnapshot = true)
    assert(!fixture.blobs.exists(fixture.path("2.snapshot")))
    assert(fixture.loaded(2) == expected(2))
  }

  test("the number of key groups is what the files say, whatever is set") {
    val fixture = new StoreFixture
    fixture.commitVersions(2)
    val other = fixture.open(settings.copy(keyGroups = 96))
    fixture.commit(other, 2, "k3" -> "3")
    val file = FileReader.open(fixture.blobs, fixture.path("3.delta"), VersionId(3), FileKind.Delta)
    assert(file.footer.identity.keyGroups == KeyGroups)
    assert(fixture.loaded(3) == expected(3))
  }

  test("retention keeps what the retained versions need and deletes the rest") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 14) {
      fixture.commit(store, v - 1L, s"k$v" -> v.toString)
      store.snapshotIfDue()
      store.cleanup()
    }
    // The newest confirmed version is 13, so 8 and later stay, which the snapshot of 6 begins.
    val left = fixture.blobs.list(fixture.location.folder).toSet
    assert(left.filter(_.endsWith("delta")) == (6 to 14).map(v => s"$v.delta").toSet)
    assert(left.filter(_.endsWith("snapshot")) == Set("6.snapshot", "9.snapshot", "12.snapshot"))
    for (v <- 6 to 14) assert(fixture.loaded(v.toLong) == expected(v), s"version $v")
  }

  test("retention deletes nothing below a snapshot that it cannot read") {
    val fixture = new StoreFixture
    val store = fixture.open(settings.copy(versionsToRetain = 1))
    for (v <- 1 to 4) {
      fixture.commit(store, v - 1L, s"k$v" -> v.toString)
      store.snapshotIfDue()
    }
    fixture.blobs.update(fixture.path("3.snapshot"))(_.dropRight(1))
    fixture.commit(store, 4, "k5" -> "5")
    assert(store.cleanup() == 0)
    assert(fixture.loaded(5) == expected(5))
  }

  test("a failed begin does not keep other writers out") {
    val store = new StoreFixture().open()
    intercept[MissingFile](store.begin(VersionId(7)))
    store.begin(VersionId.Empty).abort()
  }

  test("a closed store still opens versions, and keeps none in memory") {
    val fixture = new StoreFixture
    val store = fixture.open()
    store.close()
    for ((key, base) <- Seq("a" -> 0L, "b" -> 1L)) {
      val txn = store.begin(VersionId(base))
      put(txn, key, (base + 1).toString)
      txn.commit()
      txn.release()
    }
    val view = store.read(VersionId(2))
    assert(rows(view) == Map("a" -> "1", "b" -> "2"))
    view.release()
    assert(store.snapshotIfDue().isEmpty && store.cleanup() == 0)
    assert(store.memory.total == 0 && fixture.usedBytes == 0)
  }

  test("files whose family is not what the query wants are refused") {
    val fixture = new StoreFixture
    fixture.commitVersions(1)
    val store = fixture.open(family = rowFamily.copy(keyEncoding = "prefix:1", ordered = true))
    val error = intercept[FamilyMismatch](store.begin(VersionId(1)))
    assert(error.condition == "KEYFOLD_FAMILY_MISMATCH")
    store.begin(VersionId.Empty).abort()
  }

  test("a version that is committed again after a rollback does not keep its old snapshot") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for (v <- 1 to 4) fixture.commit(store, v - 1L, s"k$v" -> v.toString)
    assert(store.snapshotIfDue().contains(VersionId(3)))
    fixture.commit(store, 2, "k3" -> "other")
    assert(fixture.loaded(3) == expected(2) + ("k3" -> "other"))
  }

  test("retention does not build on the snapshot of an attempt that was never committed") {
    val fixture = new StoreFixture
    val store = fixture.open()
    def commit(base: VersionId, v: Long, id: String, force: Boolean) = {
      val txn = store.begin(base)
      put(txn, s"k$v", id)
      txn.commit(id, forceSnapshot = force)
    }
    var base = VersionId.Empty
    for (v <- 1L to 11L) {
      if (v == 5) commit(base, v, "orphan", force = true)
      base = commit(base, v, "good", force = false)
      store.snapshotIfDue()
      store.cleanup()
    }
    // Version 10 is confirmed, so 5 is the oldest to be retained: its own lineage starts at 3.
    val left = fixture.blobs.list(fixture.location.folder).toSet
    assert(left.contains("5_orphan.snapshot") && left.contains("3_good.snapshot"))
    assert(!left.contains("2_good.delta"))
    for (v <- 5L to 11L) {
      val view = fixture.open().read(VersionId(v, "good"))
      assert(rows(view) == (1L to v).map(i => s"k$i" -> "good").toMap)
    }
  }

  test("a version asked for without its id is missing, and the error says how it was written") {
    val fixture = new StoreFixture
    val txn = fixture.open().begin(VersionId.Empty)
    txn.commit("x")
    val error = intercept[MissingFile](fixture.loaded(1))
    assert(error.getMessage.contains("with ids (x)"))
    assert(error.getMessage.contains("checkpointFormatVersion=2, which must stay set"))
  }

  test("versions with ids are told apart") {
    val fixture = new StoreFixture
    val store = fixture.open()
    for ((id, value) <- Seq("x" -> "1", "y" -> "2")) {
      val txn = store.begin(VersionId.Empty)
      put(txn, "a", value)
      txn.commit(id)
    }
    for ((id, value) <- Seq("x" -> "1", "y" -> "2")) {
      assert(rows(fixture.open().read(VersionId(1, id))) == Map("a" -> value))
    }
  }
}
