package io.keyfold.store

import io.keyfold.errors.OutOfOrder
import io.keyfold.model.VersionId
import io.keyfold.testkit.{Gate, Running}
import org.scalatest.funsuite.AnyFunSuite

/** Several transactions on one base in one store: one after the other, as when a batch is computed
  * again, and at once.
  */
class SiblingsSuite extends AnyFunSuite {
  import StoreFixture._

  private def commit(
      store: VersionedStore,
      base: VersionId,
      id: String,
      value: String = "1"
  ): VersionId = {
    val txn = store.begin(base)
    put(txn, s"k${base.version + 1}", value)
    try txn.commit(id)
    finally txn.release()
  }

  private def rowsIn(store: VersionedStore, version: VersionId): Map[String, String] = {
    val view = store.read(version)
    try rows(view)
    finally view.release()
  }

  private def loads(store: VersionedStore): Long = store.counters.loads.sum

  /** An open transaction of another thread. */
  private final class Elsewhere(
      store: VersionedStore,
      base: VersionId,
      id: String,
      value: String
  ) {
    private val gate = new Gate

    private val committing = new Running({
      val txn = store.begin(base)
      put(txn, s"k${base.version + 1}", value)
      gate.pass()
      try txn.commit(if (id.isEmpty) id else "elsewhere")
      finally txn.release()
    })
    gate.awaitArrival()

    def commit(): VersionId = {
      gate.open()
      committing.result()
    }
  }

  for (
    (what, attempts) <- Seq(
      "two attempts" -> Seq("x", "y"),
      "three attempts" -> Seq("x", "y", "z")
    );
    won <- attempts
  )
    test(s"of $what at each version none is loaded from files, when $won is the one that counts") {
      val fixture = new StoreFixture
      val store = fixture.open()
      var base = VersionId.Empty
      for (v <- 1 to 5) {
        val made = attempts.map(id => id -> commit(store, base, id, s"$id$v")).toMap
        for ((id, version) <- made)
          assert(rowsIn(store, version)(s"k$v") == s"$id$v", "all are readable")
        base = made(won)
      }
      assert(loads(store) == 0)
      assert(rowsIn(store, base) == (1 to 5).map(v => s"k$v" -> s"$won$v").toMap)
      assert(fixture.loaded(base) == rowsIn(store, base))
    }

  test("an attempt that is aborted after another has committed loses nothing from memory") {
    val store = new StoreFixture().open()
    var base = VersionId.Empty
    for (_ <- 1 to 4) {
      val kept = commit(store, base, "kept")
      store.begin(base).release()
      base = kept
    }
    assert(rowsIn(store, base).size == 4 && loads(store) == 0)
  }

  test("attempts at a version whose base has the files of an earlier one stay, too") {
    val store = new StoreFixture().open()
    val first = commit(store, VersionId.Empty, "first")
    val idle = store.begin(first)
    val same = idle.commit("not used")
    idle.release()
    assert(same.version == 2 && same.written == first)
    val x = commit(store, same, "x")
    commit(store, same, "y")
    assert(rowsIn(store, x) == Map("k1" -> "1", "k3" -> "1"))
    commit(store, x, "z")
    assert(loads(store) == 0)
  }

  test("attempts that did not count are freed when the next version is begun") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val value = "v" * 100000
    var base = VersionId.Empty
    def attempt(id: String) = {
      val txn = store.begin(base)
      for (i <- 1 to 10) put(txn, s"k$i", value)
      try txn.commit(id)
      finally txn.release()
    }
    for (_ <- 1 to 20) {
      val made = for (id <- Seq("x", "y", "z")) yield attempt(id)
      assert(fixture.usedBytes < 5e6, "the base and three attempts, of 1.2 MB each")
      base = made.head
    }
    store.begin(base).release()
    assert(fixture.usedBytes < 1.5e6)
    assert(loads(store) == 0)
  }

  test("a batch that is tried without end keeps its first and last attempts in memory, no more") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val value = "v" * 100000
    val tries = for (i <- 1 to 100) yield commit(store, VersionId.Empty, s"try$i", value)
    assert(fixture.usedBytes < 3e6, "100 kB each")
    for (it <- Seq(tries.head, tries.last)) assert(rowsIn(store, it) == Map("k1" -> value))
    assert(loads(store) == 0)
  }

  test("a map that was beside another is freed, though the rows do not change any more") {
    val fixture = new StoreFixture(settings = settings.copy(lazyFromBytes = Long.MaxValue))
    val store = fixture.open()
    var base = commit(store, VersionId.Empty, "first", "v" * 1000000)
    val alone = fixture.usedBytes
    val both = for (_ <- 1 to 2) yield store.begin(base)
    val made = for ((txn, id) <- both.zip(Seq("x", "y"))) yield txn.commit(id)
    both.foreach(_.release())
    assert(made.map(_.written).distinct == Seq(base), "nothing has changed")
    assert(fixture.usedBytes > 1.9 * alone)
    base = made.head
    store.begin(base).release()
    assert(fixture.usedBytes < 1.1 * alone)
    assert(loads(store) == 1)
  }

  test("format v1: a snapshot that is asked for is written beside another transaction") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val other = store.begin(VersionId.Empty)
    val txn = store.begin(VersionId.Empty)
    put(txn, "k1", "1")
    txn.commit(forceSnapshot = true)
    txn.release()
    other.release()
    assert(fixture.blobs.paths.exists(_.endsWith("/1.snapshot")))
  }

  test("format v1: an attempt takes the place of the one before it") {
    val store = new StoreFixture().open()
    for (v <- 1 to 4; value <- Seq("x", "y")) commit(store, VersionId(v - 1L), "", value)
    assert(rowsIn(store, VersionId(4)) == (1 to 4).map(v => s"k$v" -> "y").toMap)
    assert(loads(store) == 0)
  }

  test("a thread may have two transactions on one base: each sees its own rows, both commit") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val base = commit(store, VersionId.Empty, "first")
    val x = store.begin(base)
    val y = store.begin(base)
    put(x, "x", "1")
    put(y, "y", "1")
    assert(rows(x) == Map("k1" -> "1", "x" -> "1"))
    assert(rows(y) == Map("k1" -> "1", "y" -> "1"))
    assert(remove(y, "k1"))
    val byX = x.commit("x")
    val byY = y.commit("y")
    assert(rows(x) == Map("k1" -> "1", "x" -> "1"), "after its commit")
    x.release()
    y.release()
    assert(loads(store) == 1, "the second works on rows of its own")
    assert(rowsIn(store, byX) == fixture.loaded(byX))
    for ((version, expected) <- Seq(byX -> Set("k1", "x"), byY -> Set("y")))
      assert(fixture.loaded(version).keySet == expected)
    assert(rows(store.begin(byX)).keySet == Set("k1", "x"))
    assert(loads(store) == 1, "whichever counts is in memory")
  }

  test("of two transactions at once the rows of both are freed when the next version is begun") {
    val fixture = new StoreFixture
    val store = fixture.open()
    val value = "v" * 100000
    var base = VersionId.Empty
    for (_ <- 1 to 20) {
      val both = for (_ <- 1 to 2) yield store.begin(base)
      for (txn <- both; i <- 1 to 10) put(txn, s"k$i", value)
      val made = for ((txn, id) <- both.zip(Seq("x", "y"))) yield txn.commit(id)
      both.foreach(_.release())
      assert(fixture.usedBytes < 5e6, "the base and the attempt, twice")
      assert(store.memory.total >= fixture.usedBytes)
      base = made.last
    }
    store.begin(base).release()
    assert(fixture.usedBytes < 1.5e6)
    store.close()
    assert(fixture.usedBytes == 0)
  }

  test("a transaction of another thread is waited for, if it ends: nothing is loaded") {
    val store = new StoreFixture().open()
    val base = commit(store, VersionId.Empty, "first")
    val other = new Elsewhere(store, base, "x", "other")
    val mine = new Running(commit(store, base, "mine"))
    val theirs = other.commit()
    assert(rowsIn(store, mine.result()) == Map("k1" -> "1", "k2" -> "1"))
    assert(rowsIn(store, theirs) == Map("k1" -> "1", "k2" -> "other"))
    assert(loads(store) == 0)
  }

  for (id <- Seq("", "x")) {
    val format = if (id.isEmpty) "v1" else "v2"

    test(
      s"format $format: a transaction that hangs keeps out no other, and is freed when it ends"
    ) {
      val fixture = new StoreFixture
      val store = fixture.open(writerWaitMs = 10)
      val base = commit(store, VersionId.Empty, id)
      // Without ids its late file takes the place of the other's: Spark promises the same rows.
      val value = if (id.isEmpty) "1" else "hung"
      val hung = new Elsewhere(store, base, id, value)
      var newest = commit(store, base, id)
      assert(loads(store) == 1)
      for (_ <- 3 to 6) newest = commit(store, newest, id)
      assert(loads(store) == (if (id.isEmpty) 2 else 1), "it is in nobody's way")
      val late = hung.commit()
      assert(fixture.loaded(late) == Map("k1" -> "1", "k2" -> value))
      assert(rowsIn(store, newest) == (1 to 6).map(v => s"k$v" -> "1").toMap)
      store.close()
      assert(fixture.usedBytes == 0)
    }
  }

  test("format v1: of two transactions at once that is in memory whose file was written last") {
    for (order <- Seq(Seq("x", "y"), Seq("y", "x"))) {
      val fixture = new StoreFixture
      val store = fixture.open()
      val base = commit(store, VersionId.Empty, "")
      val txns = (for (value <- Seq("x", "y")) yield value -> store.begin(base)).toMap
      for ((value, txn) <- txns) put(txn, "k2", value)
      for (value <- order) txns(value).commit()
      txns.values.foreach(_.release())
      val expected = Map("k1" -> "1", "k2" -> order.last)
      assert(fixture.loaded(2) == expected)
      assert(rowsIn(store, VersionId(2)) == expected)
    }
  }

  test("a transaction that was aborted stays so, though another is open") {
    val store = new StoreFixture().open()
    val x = store.begin(VersionId.Empty)
    val y = store.begin(VersionId.Empty)
    x.abort()
    intercept[OutOfOrder](put(x, "a", "1"))
    put(y, "a", "2")
    assert(rowsIn(store, y.commit("y")) == Map("a" -> "2"))
  }
}
