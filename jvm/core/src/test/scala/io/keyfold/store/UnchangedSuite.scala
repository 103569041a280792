package io.keyfold.store

import io.keyfold.errors.{Invalid, MissingFile}
import io.keyfold.format.{FileKind, FileReader}
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** With ids, a version that has the rows of the one before is not written: its id leads there. */
class UnchangedSuite extends AnyFunSuite {
  import StoreFixture._

  private class Attempts extends StoreFixture {
    private var count = 0

    /** Commits the version after `base`, with an id of its own. */
    def attempt(store: VersionedStore, base: VersionId, force: Boolean = false)(
        changes: StoreTxn => Any = _ => ()
    ): VersionId = {
      count += 1
      val txn = store.begin(base)
      try {
        changes(txn)
        txn.commit(s"a$count", force)
      } finally txn.release()
    }

    def unchanged(store: VersionedStore, base: VersionId, times: Int): VersionId =
      (1 to times).foldLeft(base)((version, _) => attempt(store, version)())

    def names: Seq[String] = blobs.paths.map(_.drop(location.folder.length + 1))
  }

  private def changes(store: VersionedStore, from: Long, end: VersionId): List[(Long, String)] = {
    val feed = store.changes(from, end, "default")
    try
      Iterator
        .continually(feed.next())
        .takeWhile(identity)
        .map(_ => feed.version -> text(feed.key))
        .toList
    finally feed.close()
  }

  test("a commit without changes asks nothing of the file system, and its version has the rows") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    it.blobs.counts.reset()
    val last = it.unchanged(store, first, 50)
    val counts = it.blobs.counts
    assert(Seq(counts.writes, counts.opens, counts.exists, counts.lists, counts.deletes).sum == 0)
    assert(last == VersionId(51, "=1_a1"))
    assert(rows(store.read(last)) == Map("k" -> "1"))
    for (version <- 1 to 51) {
      val id = if (version == 1) "a1" else "=1_a1"
      assert(it.loaded(VersionId(version.toLong, id)) == Map("k" -> "1"))
    }
  }

  test("a change after unchanged versions builds on the one that was written") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    val changed = it.attempt(store, it.unchanged(store, first, 3))(put(_, "l", "2"))
    assert(changed == VersionId(5, "a5"))
    val on = it.unchanged(it.open(), changed, 2)
    assert(on == VersionId(7, "=5_a5"))
    val last = it.attempt(it.open(), on)(remove(_, "k"))
    assert(it.names == Seq("1_a1.delta", "5_a5.delta", "8_a8.delta"))
    val file = FileReader.open(it.blobs, it.path("8_a8.delta"), last, FileKind.Delta)
    assert(file.footer.lineage.map(_.version) == Seq(changed, first))
    // Versions 2 to 4, 6 and 7.
    assert(it.loaded(last) == Map("l" -> "2"))
    assert(it.loaded(VersionId(7, "=5_a5")) == Map("k" -> "1", "l" -> "2"))
    assert(it.loaded(VersionId(4, "=1_a1")) == Map("k" -> "1"))
  }

  test("the first version is written though it is empty, and all are without ids") {
    val it = new Attempts
    val store = it.open()
    it.unchanged(store, VersionId.Empty, 3)
    assert(it.names == Seq("1_a1.delta"))
    val without = new StoreFixture
    for (base <- 0L to 2L) without.commit(without.open(), base)
    assert(without.blobs.paths.length == 3)
  }

  test("a family that is created, or dropped, is a change; a key that is not there is none") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    val same = it.attempt(store, first)(remove(_, "other"))
    assert(same.written == first)
    val wider = it.attempt(store, same)(_.createFamily(rowFamily.copy(name = "more")))
    assert(wider.written == wider)
    val narrow = it.attempt(store, wider)(_.dropFamily("more"))
    assert(narrow.written == narrow)
    val anew = it.attempt(store, narrow) { txn =>
      txn.dropFamily("default")
      txn.createFamily(rowFamily)
    }
    assert(anew.written == anew && it.loaded(anew).isEmpty)
  }

  test("an attempt that changed something, and lost, is no base of unchanged versions") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    it.attempt(store, first)(put(_, "k", "lost"))
    val second = it.attempt(store, first)()
    val third = it.attempt(store, second)(put(_, "l", "2"))
    assert(rows(store.read(third)) == Map("k" -> "1", "l" -> "2"))
    assert(it.loaded(third) == Map("k" -> "1", "l" -> "2"))
  }

  test("a transaction without changes can be read after its commit, and its version begun on") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    val txn = store.begin(first)
    val view = store.read(first)
    val second = txn.commit("b")
    assert(get(txn, "k").contains("1") && rows(view) == Map("k" -> "1"))
    txn.release()
    view.release()
    assert(rows(store.read(second)) == Map("k" -> "1"))
    assert(rows(store.read(it.attempt(store, second)(put(_, "l", "2")))).size == 2)
  }

  test("retention counts versions, not files, and keeps what unchanged versions lead to") {
    val it = new Attempts
    val store = it.open()
    def maintain() = {
      store.snapshotIfDue()
      store.cleanup()
    }
    val fourth = (1 to 4).foldLeft(VersionId.Empty) { (base, v) =>
      val next = it.attempt(store, base)(put(_, s"k$v", "1"))
      store.read(next).release()
      maintain()
      next
    }
    assert(it.names.contains("3_a3.snapshot"))
    var last = fourth
    for (_ <- 1 to 20) {
      last = it.attempt(store, last)()
      store.read(last).release()
      maintain()
    }
    // Five versions are retained: all of them are version 4, which got a snapshot meanwhile.
    assert(it.names == Seq("4_a4.delta", "4_a4.snapshot"))
    assert(it.loaded(last) == expectedRows(4))
    for (retained <- 19 to 24) assert(it.loaded(VersionId(retained, "=4_a4")) == expectedRows(4))
  }

  private def expectedRows(count: Int) = (1 to count).map(v => s"k$v" -> "1").toMap

  test("a snapshot that is forced is written once, and reported at each of its versions") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    val second = it.attempt(store, first, force = true)()
    val third = it.attempt(store, second, force = true)()
    assert(it.names == Seq("1_a1.delta", "1_a1.snapshot"))
    assert(it.snapshots == Seq(second, third))
    it.snapshots.clear()
    it.unchanged(store, third, 7)
    // Each third version, as snapshots are due.
    assert(it.snapshots.map(_.version) == Seq(6, 9))
    assert(it.names.length == 2)
  }

  test("a store that seldom changes gets a snapshot before Spark takes it for slow") {
    val it = new Attempts
    val store = it.open()
    var last = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    for (_ <- 1 to 40) {
      last = it.attempt(store, last)()
      store.read(last).release()
      store.snapshotIfDue()
    }
    // Due each third delta, or once twelve versions have passed.
    assert(it.names == Seq("1_a1.delta", "1_a1.snapshot"))
    assert(it.snapshots.map(_.version) == (12 to 39 by 3))
  }

  test("an unchanged version asked for without its id is missing, and the error says why") {
    val it = new Attempts
    val store = it.open()
    val last = it.unchanged(store, it.attempt(store, VersionId.Empty)(put(_, "k", "1")), 3)
    val e = intercept[MissingFile](it.open().read(VersionId(last.version)))
    assert(e.getMessage.contains("Files of version 1 exist with ids (a1)"))
    assert(e.getMessage.contains("checkpointFormatVersion=2"))
  }

  test("the change feed passes over versions that nothing changed, and begins at any") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "a", "1"))
    val fourth = it.attempt(store, it.unchanged(store, first, 2))(put(_, "b", "2"))
    val last = it.unchanged(store, fourth, 3)
    for (read <- Seq(store, it.open())) {
      assert(changes(read, 1, last) == List(1L -> "a", 4L -> "b"))
      for (from <- 2L to 4L) assert(changes(read, from, last) == List(4L -> "b"))
      for (from <- 5L to 7L) assert(changes(read, from, last) == Nil)
      assert(changes(read, 1, VersionId(3, "=1_a1")) == List(1L -> "a"))
      assert(intercept[Invalid](changes(read, 8, last)).condition == "KEYFOLD_INVALID_VERSION")
    }
  }

  test("a replay takes the snapshot that an unchanged version leads to") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty, force = true)(put(_, "a", "1"))
    val third = it.unchanged(store, first, 2)
    val last = it.unchanged(store, it.attempt(store, third)(put(_, "b", "2")), 2)
    assert(rows(it.open().readReplayed(third, last)) == Map("a" -> "1", "b" -> "2"))
    assert(rows(it.open().readReplayed(first, third)) == Map("a" -> "1"))
    val txn = it.open().beginReplayed(third, last)
    put(txn, "c", "3")
    assert(txn.commit("z") == VersionId(7, "z"))
    assert(it.loaded(VersionId(7, "z")).keySet == Set("a", "b", "c"))
  }

  test("an empty start after unchanged versions has their number of key groups, and is written") {
    val it = new Attempts
    val store = it.open()
    val first = it.attempt(store, VersionId.Empty)(put(_, "k", "1"))
    val third = it.unchanged(store, first, 2)
    val txn = it.open(settings.copy(keyGroups = 96)).beginEmpty(third)
    val fourth = txn.commit("e")
    assert(fourth == VersionId(4, "e") && it.loaded(fourth).isEmpty)
    val file = FileReader.open(it.blobs, it.path("4_e.snapshot"), fourth, FileKind.Snapshot)
    assert(file.footer.identity.keyGroups == KeyGroups)
  }

  test("maintenance asks for nothing where there is nothing to do, and little where there is") {
    val it = new Attempts
    val store = it.open()
    var last = VersionId.Empty
    def batches(count: Int)(changes: StoreTxn => Any) = for (_ <- 1 to count) {
      last = it.attempt(store, last)(changes)
      store.read(last).release()
      store.snapshotIfDue()
      store.cleanup()
    }
    batches(30)(put(_, "k", "1"))
    it.blobs.counts.reset()
    // A snapshot is due each third version: it is written, looked at, and looked at once more
    // before what it makes needless is deleted after a listing.
    batches(30)(put(_, "k", "1"))
    val busy = it.blobs.counts
    assert((busy.writes, busy.opens, busy.lists, busy.exists) == ((40, 20, 10, 0)))
    assert(busy.deletes == 40)
    batches(30)(_ => ())
    it.blobs.counts.reset()
    batches(30)(_ => ())
    val idle = it.blobs.counts
    assert((idle.writes, idle.opens, idle.lists, idle.exists, idle.deletes) == ((0, 0, 0, 0, 0)))
    assert(it.loaded(last) == Map("k" -> "1"))
  }

  for (
    id <- Seq(
      "=",
      "=1",
      "=1_",
      "=0_a",
      "=01_a",
      "=3_a",
      "=4_a",
      "=x_a",
      "=1_=1_a",
      "=1_../../x",
      "=-1_a"
    )
  )
    test(s"the id '$id' leads to no version, and is refused") {
      val it = new Attempts
      val e = intercept[Invalid](it.open().read(VersionId(3, id)))
      assert(e.condition == "KEYFOLD_CHECKPOINT_DAMAGED" && e.getMessage.contains(s"'$id'"))
    }
}
