package io.keyfold.store

import io.keyfold.errors.{FamilyMismatch, OutOfOrder, UnreadableVersion}
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

class FamiliesSuite extends AnyFunSuite {
  import StoreFixture._

  private val other = rowFamily.copy(
    name = "other",
    internal = true,
    ordered = true,
    keyEncoding = "range:0",
    keySchemaId = 3,
    valueSchemaId = 4
  )

  private def put(txn: StoreTxn, family: Int, key: String, value: String): Unit =
    txn.put(family, hash(key), slice(key), slice(value))

  private def commit(store: VersionedStore, base: Long)(body: StoreTxn => Any): Unit = {
    val txn = store.begin(VersionId(base))
    body(txn)
    txn.commit()
    txn.release()
  }

  /** Rows of each family of a version, as files hold them. */
  private def loaded(fixture: StoreFixture, version: Long): Map[String, Map[String, String]] = {
    val view = fixture.open().read(VersionId(version))
    view.families.indices.map(i => view.families(i).spec.name -> rows(view.scan(i))).toMap
  }

  test("a family that is created is in every version from then on, in memory and in files") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0)(put(_, 0, "a", "1"))
    commit(store, 1) { txn =>
      assert(txn.indexOf(other) == -1)
      assert(txn.createFamily(other) == 1)
      assert(txn.createFamily(other.copy(partitionKey = "none", keySchemaId = 9)) == 1)
      put(txn, 1, "b", "2")
    }
    commit(store, 2)(txn => assert(txn.indexOf(other) == 1))
    assert(loaded(fixture, 1) == Map("default" -> Map("a" -> "1")))
    assert(loaded(fixture, 3) == Map("default" -> Map("a" -> "1"), "other" -> Map("b" -> "2")))
    val view = fixture.open().read(VersionId(3))
    assert(view.families.map(_.spec) == Seq(rowFamily, other))
  }

  test("a family that is kept in another way than before was dropped, or the file is damaged") {
    val fixture = new StoreFixture
    commit(fixture.open(), 0)(put(_, 0, "a", "1"))
    val another = new StoreFixture(family = rowFamily.copy(multiValue = true))
    val store = another.open()
    commit(store, 0)(put(_, 0, "a", "1"))
    commit(store, 1)(_.append(0, hash("a"), slice("a"), slice("2")))
    fixture.blobs.put(fixture.path("2.delta"), another.blobs.bytes(another.path("2.delta")))
    val error = intercept[UnreadableVersion](fixture.loaded(2))
    assert(error.getMessage.contains("default has other encodings than in the files before it"))
  }

  test("an aborted transaction leaves neither a family nor a drop") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0)(put(_, 0, "a", "1"))
    val txn = store.begin(VersionId(1))
    txn.createFamily(other)
    txn.dropFamily(rowFamily.name)
    txn.abort()
    intercept[OutOfOrder](txn.createFamily(other))
    intercept[OutOfOrder](txn.dropFamily("other"))
    commit(store, 1)(txn => assert(txn.families.map(_.spec) == Seq(rowFamily)))
    assert(loaded(fixture, 2) == Map("default" -> Map("a" -> "1")))
  }

  test("a family of the same name that keeps its rows in another way is refused") {
    val store = new StoreFixture().open()
    commit(store, 0)(txn => assert(txn.createFamily(other) == 1))
    val txn = store.begin(VersionId(1))
    for (
      wanted <- Seq(
        other.copy(keyEncoding = "range:1"),
        other.copy(ordered = false),
        other.copy(rowEncoding = "avro"),
        other.copy(multiValue = true)
      )
    ) {
      val error = intercept[FamilyMismatch](txn.createFamily(wanted))
      assert(error.found == other.inWords && error.wanted == wanted.inWords)
    }
  }

  test("a dropped family is gone, whatever files a version is loaded from") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0) { txn =>
      txn.createFamily(other)
      put(txn, 0, "a", "1")
      put(txn, 1, "b", "2")
    }
    commit(store, 1) { txn =>
      assert(txn.dropFamily("other") && !txn.dropFamily("other"))
      assert(txn.families.map(_.spec) == Seq(rowFamily))
    }
    commit(store, 2)(_.createFamily(other))
    commit(store, 3)(put(_, 1, "c", "3"))
    for (snapshot <- Seq(false, true)) {
      if (snapshot) assert(store.snapshotIfDue().isDefined)
      assert(loaded(fixture, 1) == Map("default" -> Map("a" -> "1"), "other" -> Map("b" -> "2")))
      assert(loaded(fixture, 2) == Map("default" -> Map("a" -> "1")))
      assert(loaded(fixture, 3) == Map("default" -> Map("a" -> "1"), "other" -> Map()))
      assert(loaded(fixture, 4) == Map("default" -> Map("a" -> "1"), "other" -> Map("c" -> "3")))
    }
  }

  test("a family that is dropped and created again in one version has only its new rows") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0) { txn =>
      txn.createFamily(other)
      put(txn, 1, "b", "2")
      put(txn, 1, "c", "3")
    }
    commit(store, 1) { txn =>
      txn.dropFamily("other")
      val again = txn.createFamily(other.copy(keyEncoding = "prefix:1"))
      put(txn, again, "b", "new")
    }
    assert(loaded(fixture, 2) == Map("default" -> Map(), "other" -> Map("b" -> "new")))
    assert(rows(store.read(VersionId(2)).scan(1)) == Map("b" -> "new"))
    assert(rows(store.read(VersionId(1)).scan(1)) == Map("b" -> "2", "c" -> "3"))
  }

  test("two families that are dropped in one version go, and no other does") {
    val fixture = new StoreFixture
    val store = fixture.open()
    commit(store, 0) { txn =>
      for (name <- Seq("x", "y", "z")) {
        put(txn, txn.createFamily(other.copy(name = name)), "b", name)
      }
    }
    commit(store, 1) { txn =>
      assert(txn.dropFamily("x") && txn.dropFamily("y"))
    }
    assert(loaded(fixture, 2) == Map("default" -> Map(), "z" -> Map("b" -> "z")))
  }
}
