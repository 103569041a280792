package io.keyfold.store

import java.nio.charset.StandardCharsets.UTF_8

import io.keyfold.errors.{Invalid, UnreadableVersion}
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** Replay from a given snapshot, and the feed of changes between versions. */
class ReplaySuite extends AnyFunSuite {
  import StoreFixture._

  /** Versions 1 to 8, each with a row `k<v>` of its own; snapshots of 3 and 6. */
  private def eightVersions(): (StoreFixture, VersionedStore) = {
    val fixture = new StoreFixture
    fixture.commitMaintained(8)
    (fixture, fixture.open())
  }

  private def changes(store: VersionedStore, from: Long, end: Long) = {
    val feed = store.changes(from, VersionId(end), "default")
    def text(bytes: Array[Byte]) = new String(bytes, UTF_8)
    try
      Iterator
        .continually(feed.next())
        .takeWhile(identity)
        .map { _ =>
          val value = Option.unless(feed.removed)(text(feed.value.toArray))
          (feed.version, text(feed.key.toArray), value)
        }
        .toList
    finally feed.close()
  }

  test("a version is rebuilt from the snapshot that is named, though a newer one is there") {
    val (fixture, store) = eightVersions()
    for (v <- 3 to 8)
      assert(rows(store.readReplayed(VersionId(3), VersionId(v.toLong))) == expected(v))
    fixture.blobs.delete(fixture.path("6.snapshot"))
    assert(rows(store.readReplayed(VersionId(3), VersionId(8))) == expected(8))
    val txn = store.beginReplayed(VersionId(3), VersionId(7))
    assert(rows(txn) == expected(7))
    txn.abort()
  }

  test("replay does not fall back: the snapshot that is named must be there and whole") {
    val (fixture, store) = eightVersions()
    val missing = intercept[UnreadableVersion](store.readReplayed(VersionId(4), VersionId(8)))
    assert(missing.getMessage.contains("from the snapshot of version 4: there is none"))
    fixture.blobs.update(fixture.path("6.snapshot"))(_.dropRight(1))
    val damaged = intercept[Exception](store.readReplayed(VersionId(6), VersionId(8)))
    assert(damaged.getMessage.contains("6.snapshot"))
  }

  test("the change feed has the net changes of each version, in order of versions") {
    val fixture = new StoreFixture
    val store = fixture.open()
    fixture.commit(store, 0, "a" -> "1", "b" -> "1")
    val txn = store.begin(VersionId(1))
    put(txn, "a", "2")
    put(txn, "a", "3")
    remove(txn, "b")
    put(txn, "fleeting", "x")
    remove(txn, "fleeting")
    txn.commit()
    fixture.commit(store, 2)
    fixture.commit(store, 3, "c" -> "4")
    val all = changes(fixture.open(), 1, 4)
    assert(all.map(_._1) == List(1, 1, 2, 2, 4))
    assert(
      all.toSet == Set(
        (1L, "a", Some("1")),
        (1L, "b", Some("1")),
        (2L, "a", Some("3")),
        (2L, "b", None),
        (4L, "c", Some("4"))
      )
    )
    assert(changes(fixture.open(), 4, 4) == List((4L, "c", Some("4"))))
  }

  test("the change feed tells rows written anew from values added to them") {
    val fixture = new StoreFixture(family = listFamily)
    val store = fixture.open()
    def version(base: Long)(write: StoreTxn => Any) = {
      val txn = store.begin(VersionId(base))
      write(txn)
      txn.commit()
    }
    version(0) { txn =>
      for (v <- Seq("1", "2", "3")) append(txn, "a", v)
      append(txn, "b", "1")
      put(txn, "c", "1")
      append(txn, "c", "2")
    }
    version(1) { txn =>
      for (v <- Seq("4", "5")) append(txn, "a", v)
      remove(txn, "b")
      append(txn, "b", "2")
    }
    version(2)(remove(_, "a"))
    val feed = fixture.open().changes(1, VersionId(3), "default")
    val found = Iterator
      .continually(feed.next())
      .takeWhile(identity)
      .map { _ =>
        val kind = if (feed.removed) "remove" else if (feed.appended) "append" else "put"
        (feed.version, text(feed.key), kind, if (feed.removed) "" else text(feed.value))
      }
      .toList
    val byKey = found.groupBy(_._2).map { case (key, of) => key -> of.map(r => (r._1, r._3, r._4)) }
    assert(
      byKey == Map(
        "a" -> List(
          (1L, "append", "1"),
          (1L, "append", "2"),
          (1L, "append", "3"),
          (2L, "append", "4"),
          (2L, "append", "5"),
          (3L, "remove", "")
        ),
        "b" -> List((1L, "append", "1"), (2L, "put", "2")),
        "c" -> List((1L, "put", "1"), (1L, "append", "2"))
      )
    )
  }

  test("the change feed goes back beyond snapshots, and refuses versions that are not there") {
    val (_, store) = eightVersions()
    assert(changes(store, 1, 8) == (1L to 8L).map(v => (v, s"k$v", Some(v.toString))).toList)
    for (from <- Seq(0L, 9L)) intercept[Invalid](changes(store, from, 8))
  }

  test("the change feed of one attempt has nothing of another") {
    val fixture = new StoreFixture
    val store = fixture.open()
    var base = VersionId.Empty
    for (v <- 1 to 3; id <- Seq("lost", "won")) {
      val txn = store.begin(if (v == 1) VersionId.Empty else base)
      put(txn, s"k$v", id)
      val committed = txn.commit(s"$id$v")
      if (id == "won") base = committed
    }
    val feed = store.changes(1, VersionId(3, "won3"), "default")
    var seen = List.empty[(Long, String)]
    while (feed.next()) seen ::= ((feed.version, new String(feed.value.toArray, UTF_8)))
    assert(seen.reverse == List((1L, "won"), (2L, "won"), (3L, "won")))
  }
}
