package io.keyfold.store

import java.nio.file.Files

import io.keyfold.mem.Slice
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** Rows that Spark gives a partition though their hash says another: the fixture's is 1 of 4. */
class StraysSuite extends AnyFunSuite {
  import StoreFixture._

  /** Of partition 2. */
  private val elsewhere = 2

  private val other = rowFamily.copy(name = "other")

  private def putStray(txn: StoreTxn, family: Int = 0): Unit =
    txn.put(family, elsewhere, slice("stray"), slice("s"))

  private def marks(view: StoreView): Map[String, Boolean] =
    view.families.map(it => it.spec.name -> it.spec.strays).toMap

  private def loadedMarks(fixture: StoreFixture, version: Long): Map[String, Boolean] = {
    val view = fixture.open().read(VersionId(version))
    try marks(view)
    finally view.release()
  }

  private def commit(store: VersionedStore, base: Long)(body: StoreTxn => Any): Unit = {
    val txn = store.begin(VersionId(base))
    body(txn)
    txn.commit()
    txn.release()
  }

  test("a row whose hash gives another partition is kept, and its family is marked") {
    val fixture = new StoreFixture
    commit(fixture.open(), 0) { txn =>
      put(txn, "a", "1")
      putStray(txn, txn.createFamily(other))
      assert(marks(txn) == Map("default" -> false, "other" -> true))
    }
    assert(loadedMarks(fixture, 1) == Map("default" -> false, "other" -> true))
    val view = fixture.open().read(VersionId(1))
    assert(rows(view.scan(1)) == Map("stray" -> "s"))
    assert(view.get(1, elsewhere, slice("stray"), new Slice))
  }

  test("a value whose hash gives another partition is kept too") {
    val fixture = new StoreFixture(family = listFamily)
    val store = fixture.open()
    commit(store, 0)(_.append(0, elsewhere, slice("a"), slice("1")))
    commit(store, 1)(_.append(0, elsewhere, slice("a"), slice("2")))
    assert(fixture.loadedLists(VersionId(2)) == Map("a" -> Vector("1", "2")))
    assert(loadedMarks(fixture, 2) == Map("default" -> true))
  }

  test("a mark is of its version and those after it, in memory, in deltas and in snapshots") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0)(put(_, "a", "1"))
    commit(store, 1)(putStray(_))
    commit(store, 2)(txn => assert(txn.remove(0, elsewhere, slice("stray"))))
    for (snapshot <- Seq(false, true)) {
      store.read(VersionId(3)).release()
      if (snapshot) assert(store.snapshotIfDue().contains(VersionId(3)))
      assert((1 to 3).map(loadedMarks(fixture, _)("default")) == Seq(false, true, true))
    }
    // From the snapshot alone.
    fixture.blobs.delete(fixture.path("2.delta"))
    assert(loadedMarks(fixture, 3) == Map("default" -> true))
    commit(store, 3)(putStray(_))
    assert(fixture.loaded(4) == Map("a" -> "1", "stray" -> "s"))
    assert(marks(store.read(VersionId(4))) == Map("default" -> true))
  }

  test("an aborted transaction marks nothing") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0)(put(_, "a", "1"))
    val txn = store.begin(VersionId(1))
    putStray(txn)
    txn.abort()
    commit(store, 1)(txn => assert(marks(txn) == Map("default" -> false)))
    assert(loadedMarks(fixture, 2) == Map("default" -> false))
  }

  test("a retry on an older version is marked only by its own rows") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0)(put(_, "a", "1"))
    commit(store, 1)(putStray(_))
    commit(store, 1)(put(_, "b", "2"))
    assert(marks(store.read(VersionId(2))) == Map("default" -> false))
    assert(loadedMarks(fixture, 2) == Map("default" -> false))
  }

  test("a mark alone is a change: a version with ids that only has it is written") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val first = {
      val txn = store.begin(VersionId.Empty)
      put(txn, "a", "1")
      txn.commit("x")
    }
    val txn = store.begin(first)
    putStray(txn)
    txn.remove(0, elsewhere, slice("stray"))
    assert(txn.commit("y") == VersionId(2, "y"))
    assert(marks(fixture.open().read(VersionId(2, "y"))) == Map("default" -> true))
  }

  test("a mark goes with its family") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0)(txn => putStray(txn, txn.createFamily(other)))
    commit(store, 1) { txn =>
      txn.dropFamily("other")
      txn.createFamily(other)
    }
    assert(loadedMarks(fixture, 2) == Map("default" -> false, "other" -> false))
  }

  test("rows that are spilled to disk are kept and marked as others are") {
    // No page fits into memory.
    val spill = new SpillFiles(Files.createTempDirectory("keyfold-strays"))
    val fixture = new StoreFixture(pool = new PagePool(1, Some(spill)))
    val store = fixture.open()
    commit(store, 0)(putStray(_))
    assert(fixture.pool.mappedBytes > 0)
    val view = store.read(VersionId(1))
    assert(marks(view) == Map("default" -> true))
    view.release()
    assert(fixture.loaded(1) == Map("stray" -> "s"))
    // What is mapped and not closed is unmapped by the JVM, and Mem's checks do not learn of it.
    store.close()
    assert(fixture.pool.mappedBytes == 0)
  }
}
