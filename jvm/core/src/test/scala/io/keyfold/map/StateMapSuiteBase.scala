package io.keyfold.map

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import io.keyfold.errors.StoreError
import io.keyfold.mem.Slice
import io.keyfold.model.{Family, VersionId}
import io.keyfold.testkit.SeededChecks

/** The contract of [[StateMap]], M1 to M7, for one implementation; [[StateMapModel]] adds random
  * sequences of operations.
  */
abstract class StateMapSuiteBase extends MapSuite with SeededChecks {
  testMap("M1: version 0 is held from the start, without families") { map =>
    assert(map.holds(VersionId.Empty))
    viewing(map, VersionId.Empty)(view => assert(view.families.isEmpty))
  }

  testMap("M1: a version is held from its commit on, under its number and id") { map =>
    val withId = VersionId(1, "a")
    assert(!map.holds(withId))
    commit(map, VersionId.Empty, withId)(put(_, "k", "1"))
    assert(map.holds(withId))
    assert(!map.holds(v1))
    assert(!map.holds(VersionId(1, "b")))
    assert(rowsOf(map, withId) == Map("k" -> "1"))
  }

  testMap("M1: a version stays as it is when later ones are built on it") { map =>
    commit(map, VersionId.Empty, v1)(txn => for (k <- Seq("a", "b", "c")) put(txn, k, "1"))
    commit(map, v1, v2) { txn =>
      put(txn, "b", "2")
      put(txn, "d", "2")
      remove(txn, "c")
    }
    commit(map, v2, v3)(txn => for (k <- Seq("a", "b", "c", "d")) remove(txn, k))
    assert(rowsOf(map, v1) == Map("a" -> "1", "b" -> "1", "c" -> "1"))
    assert(rowsOf(map, v2) == Map("a" -> "1", "b" -> "2", "d" -> "2"))
    assert(rowsOf(map, v3) == Map())
  }

  testMap("M1: two versions may be built on the same one") { map =>
    commit(map, VersionId.Empty, v1)(put(_, "a", "1"))
    commit(map, v1, VersionId(2, "x"))(put(_, "a", "x"))
    commit(map, v1, VersionId(2, "y"))(put(_, "b", "y"))
    assert(rowsOf(map, v1) == Map("a" -> "1"))
    assert(rowsOf(map, VersionId(2, "x")) == Map("a" -> "x"))
    assert(rowsOf(map, VersionId(2, "y")) == Map("a" -> "1", "b" -> "y"))
  }

  testMap("M1: what a transaction writes after its commit is not in the version") { map =>
    writing(map, VersionId.Empty) { txn =>
      put(txn, "k", "1")
      txn.commit(v1)
      Try(put(txn, "k", "2")) // may be refused
      Try(put(txn, "late", "2"))
      assert(rowsOf(map, v1) == Map("k" -> "1"))
    }
    assert(rowsOf(map, v1) == Map("k" -> "1"))
  }

  testMap("M1: retain lets go of the versions that it is told to, wherever they are") { map =>
    var base = VersionId.Empty
    for (number <- 1L to 6L) {
      commit(map, base, VersionId(number))(put(_, "k", number.toString))
      base = VersionId(number)
    }
    for (_ <- 1 to 2) {
      map.retain(Set(VersionId(2), VersionId(5)))
      assert((1L to 6L).filter(v => map.holds(VersionId(v))) == Seq(2, 5))
      assert(rowsOf(map, VersionId(2)) == Map("k" -> "2"))
      assert(rowsOf(map, VersionId(5)) == Map("k" -> "5"))
    }
    map.retain(_ => false)
    assert(!(1L to 6L).exists(v => map.holds(VersionId(v))))
    assert(map.holds(VersionId.Empty))
  }

  testMap("M1: versions may be let go in any order while keys are put and removed") { map =>
    val all = (1L to 5L).map(VersionId(_))
    // Of each key what the versions do: put, append where there are lists, remove, nothing.
    val keys = Seq("prprp", "aaaaa", "parap", "p-r-p", "r-pp-", "-apra", "prrpr").map(_.toSeq)
    def rowsAfter(version: Int, key: Seq[Char], multiValue: Boolean) =
      key.take(version).zipWithIndex.foldLeft(Seq.empty[String]) {
        case (_, ('p', i))      => Seq(s"p$i")
        case (values, ('a', i)) => (if (multiValue) values else Nil) :+ s"a$i"
        case (_, ('r', _))      => Nil
        case (values, _)        => values
      }
    for ((order, index) <- all.permutations.zipWithIndex) {
      var base = VersionId.Empty
      for ((version, i) <- all.zipWithIndex) {
        commit(map, base, version) { txn =>
          if (i == 0) txn.createFamily(lists)
          for (family <- 0 to 1; key <- keys) {
            val name = s"$index ${key.mkString}"
            key(i) match {
              case 'p'                => put(txn, name, s"p$i", family)
              case 'a' if family == 1 => append(txn, name, s"a$i", family)
              case 'a'                => put(txn, name, s"a$i", family)
              case 'r'                => remove(txn, name, family)
              case _                  => ()
            }
          }
        }
        base = version
      }
      for (gone <- 1 to order.size) {
        map.retain(order.drop(gone).toSet)
        for (held <- order.drop(gone)) viewing(map, held) { view =>
          for (family <- 0 to 1; key <- keys) {
            val expected = rowsAfter(held.version.toInt, key, multiValue = family == 1)
            assert(
              valuesOf(view, s"$index ${key.mkString}", family) == expected,
              (order, key, held)
            )
          }
        }
      }
    }
  }

  testMap("M1: retain keeps the version it is told, of all attempts at its number") { map =>
    val attempts = for (id <- Seq("a", "b", "c", "d", "e")) yield VersionId(1, id)
    for (told <- attempts) {
      for (attempt <- attempts) commit(map, VersionId.Empty, attempt)(put(_, "k", attempt.id))
      map.retain(Set(told))
      assert(map.holds(told), told)
      assert(rowsOf(map, told) == Map("k" -> told.id))
    }
  }

  testMap("M1: a version that is not held can neither be pinned nor built on") { map =>
    commit(map, VersionId.Empty, v1)(put(_, "k", "1"))
    commit(map, v1, v2)(put(_, "k", "2"))
    map.retain(Set(v1))
    for (gone <- Seq(v2, v3, VersionId(1, "a"))) {
      intercept[StoreError](map.pin(gone))
      intercept[StoreError](map.begin(gone))
    }
    commit(map, v1, v2)(put(_, "k", "other"))
    assert(rowsOf(map, v2) == Map("k" -> "other"))
  }

  testMap("M2: a pinned view stays as it is through writes, commit, abort and letting go") { map =>
    commit(map, VersionId.Empty, v1)(txn => for (k <- Seq("a", "b")) put(txn, k, "1"))
    val view = map.pin(v1)
    def assertUnchanged() = {
      assert(allRows(view) == Map("a" -> "1", "b" -> "1"))
      assert(valueOf(view, "a").contains("1"))
      assert(valueOf(view, "c").isEmpty)
      assert(view.families == Seq(Family(hashed, keys = 2, values = 2, bytes = 4)))
    }
    writing(map, v1) { txn =>
      put(txn, "a", "2")
      remove(txn, "b")
      put(txn, "c", "2")
      assertUnchanged()
    }
    assertUnchanged()
    commit(map, v1, v2) { txn =>
      put(txn, "a", "2")
      remove(txn, "b")
    }
    assertUnchanged()
    map.retain(Set(v2))
    assert(!map.holds(v1))
    assertUnchanged()
    map.retain(_ => false)
    assertUnchanged()
    view.release()
  }

  testMap("M2: releasing a view, even twice, leaves other views of the version alone") { map =>
    commit(map, VersionId.Empty, v1)(put(_, "a", "1"))
    val one = map.pin(v1)
    val two = map.pin(v1)
    map.retain(_ => false)
    one.release()
    one.release()
    assert(allRows(two) == Map("a" -> "1"))
    commit(map, VersionId.Empty, v2)(txn => for (i <- 1 to 100) put(txn, s"k$i", "2"))
    assert(allRows(two) == Map("a" -> "1"))
    two.release()
  }

  testMap("M2: a cursor of a pinned view goes on while versions come and go") { map =>
    val keys = (1 to 100).map(i => s"k$i")
    commit(map, VersionId.Empty, v1)(txn => for (k <- keys) put(txn, k, "1"))
    val view = map.pin(v1)
    val cursor = view.scan(0)
    assert(cursor.next())
    val first = text(cursor.key) -> text(cursor.value)
    commit(map, v1, v2)(txn => for (k <- keys) remove(txn, k))
    map.retain(Set(v2))
    assert(asMap(first +: rows(cursor)) == keys.map(_ -> "1").toMap)
    view.release()
  }

  testMap("M3: a second transaction is refused while one is open, and does not disturb it") { map =>
    commit(map, VersionId.Empty, v1)(put(_, "a", "1"))
    commit(map, v1, v2) { txn =>
      put(txn, "b", "2")
      intercept[StoreError](map.begin(v1))
      intercept[StoreError](map.begin(VersionId.Empty))
      put(txn, "c", "2")
    }
    assert(rowsOf(map, v2) == Map("a" -> "1", "b" -> "2", "c" -> "2"))
  }

  testMap("M3: a transaction sees what it wrote, and views do not before it commits") { map =>
    commit(map, VersionId.Empty, v1)(txn => for (k <- Seq("a", "b")) put(txn, k, "1"))
    writing(map, v1) { txn =>
      put(txn, "a", "2")
      put(txn, "c", "2")
      assert(remove(txn, "b"))
      assert(valueOf(txn, "a").contains("2"))
      assert(valueOf(txn, "b").isEmpty)
      assert(allRows(txn) == Map("a" -> "2", "c" -> "2"))
      assert(rowsOf(map, v1) == Map("a" -> "1", "b" -> "1"))
      txn.commit(v2)
      assert(rowsOf(map, v2) == Map("a" -> "2", "c" -> "2"))
      assert(rowsOf(map, v1) == Map("a" -> "1", "b" -> "1"))
    }
  }

  testMap("M3: a transaction can be read after its commit") { map =>
    writing(map, VersionId.Empty) { txn =>
      put(txn, "a", "1")
      txn.commit(v1)
      assert(valueOf(txn, "a").contains("1"))
      assert(allRows(txn) == Map("a" -> "1"))
      commit(map, v1, v2)(put(_, "a", "2"))
      assert(allRows(txn) == Map("a" -> "1"))
    }
  }

  testMap("M3: a transaction that has ended cannot be committed") { map =>
    writing(map, VersionId.Empty) { txn =>
      txn.abort()
      intercept[StoreError](txn.commit(v1))
      assert(!map.holds(v1))
    }
    writing(map, VersionId.Empty) { txn =>
      txn.commit(v1)
      intercept[StoreError](txn.commit(v2))
      assert(!map.holds(v2))
    }
  }

  testMap("M4: an aborted transaction leaves rows, families and counts as they were") { map =>
    commit(map, VersionId.Empty, v1)(put(_, "a", "1"))
    writing(map, v1) { txn =>
      put(txn, "a", "longer than before")
      put(txn, "b", "2")
      put(txn, "x", "2", txn.createFamily(ordered))
      txn.abort()
    }
    assert(rowsOf(map, v1) == Map("a" -> "1"))
    writing(map, v1) { txn =>
      assert(txn.families == Seq(Family(hashed, keys = 1, values = 1, bytes = 2)))
      assert(txn.familyIndex("ordered") == -1)
      assert(allRows(txn) == Map("a" -> "1"))
      assert(changes(txn) == Map())
    }
  }

  testMap("M4: abort after commit, and abort again, change nothing") { map =>
    writing(map, VersionId.Empty) { txn =>
      put(txn, "a", "1")
      txn.commit(v1)
      txn.abort()
      txn.abort()
    }
    assert(rowsOf(map, v1) == Map("a" -> "1"))
  }

  for (spec <- Seq(hashed, ordered)) {
    val keys = (1 to 200).map(i => f"key$i%03d")

    /** A transaction on 200 rows with value 1. */
    def scanning(map: StateMap)(body: (MapTxn, Int) => Any): Unit = {
      commit(map, VersionId.Empty, v1) { txn =>
        val family = if (spec.ordered) txn.createFamily(spec) else 0
        for (k <- keys) put(txn, k, "1", family)
      }
      writing(map, v1)(txn => body(txn, txn.familyIndex(spec.name)))
      ()
    }

    testMap(s"M5: every row of ${spec.name} can be removed as the cursor comes to it") { map =>
      scanning(map) { (txn, family) =>
        val cursor = txn.scan(family)
        val removed = Iterator.continually(cursor.next()).takeWhile(identity).map { _ =>
          val key = text(cursor.key)
          assert(remove(txn, key, family))
          key
        }
        assert(removed.toSeq.sorted == keys)
        assert(allRows(txn, family) == Map())
      }
    }

    testMap(s"M5: every row of ${spec.name} can be replaced as the cursor comes to it") { map =>
      scanning(map) { (txn, family) =>
        val cursor = txn.scan(family)
        val old = Iterator.continually(cursor.next()).takeWhile(identity).map { _ =>
          val row = text(cursor.key) -> text(cursor.value)
          put(txn, row._1, "2", family)
          row
        }
        assert(old.toSeq.sorted == keys.map(_ -> "1"))
        assert(allRows(txn, family) == keys.map(_ -> "2").toMap)
      }
    }

    testMap(s"M5: a cursor of ${spec.name} shows what was there, whatever is written meanwhile") {
      map =>
        scanning(map) { (txn, family) =>
          for (k <- keys.take(100)) put(txn, k, "own", family)
          val before = allRows(txn, family)
          val cursor = txn.scan(family)
          val abandoned = txn.scan(family)
          assert(abandoned.next())
          val first = for (_ <- 1 to 50) yield {
            assert(cursor.next())
            text(cursor.key) -> text(cursor.value)
          }
          for (k <- keys if k.last < '5') remove(txn, k, family)
          for (k <- keys if k.last >= '5') put(txn, k, "3", family)
          for (i <- 1 to 2000) put(txn, s"key$i-new", "2", family)
          val found = first ++ rows(cursor)
          assert(found.size == keys.size && found.toMap == before)
        }
    }

    testMap(s"M5: a key group of ${spec.name} can be scanned while it is written") { map =>
      scanning(map) { (txn, family) =>
        val cursor = txn.scanGroup(family, groupOf(keys.head))
        assert(cursor.next())
        val first = text(cursor.key)
        for (i <- 1 to 500) put(txn, f"new$i%03d", "2", family)
        assert((first +: rows(cursor).map(_._1)).sorted == keys)
      }
    }
  }

  testMap("M5: a prefix scan goes on in key order while rows are written") { map =>
    writing(map, VersionId.Empty) { txn =>
      val family = txn.createFamily(ordered)
      val keys = (1 to 100).map(i => f"a$i%03d")
      for (k <- keys) put(txn, k, "1", family)
      put(txn, "b", "1", family)
      val cursor = txn.scanPrefix(family, slice("a"))
      assert(cursor.next())
      assert(text(cursor.key) == "a001")
      for (k <- keys.take(50)) remove(txn, k, family)
      for (i <- 1 to 100) put(txn, f"a$i%03d+", "2", family)
      assert(rows(cursor).map(_._1) == keys.drop(1))
    }
  }

  testMap("M6: bytes handed in may be overwritten when the call has returned") { map =>
    commit(map, VersionId.Empty, v1) { txn =>
      val bytes = "..key.value..".getBytes(UTF_8)
      val key = new Slice().set(bytes, 2, 3)
      val value = new Slice().set(bytes, 6, 5)
      txn.put(0, hashOf("key"), key, value)
      java.util.Arrays.fill(bytes, '#'.toByte)
      key.set(Array[Byte](1))
      assert(allRows(txn) == Map("key" -> "value"))
    }
    assert(rowsOf(map, v1) == Map("key" -> "value"))
  }

  testMap("M6: slices stay while the transaction that gave them goes on writing") { map =>
    commit(map, VersionId.Empty, v1)(txn => for (k <- Seq("a", "b")) put(txn, k, s"old $k"))
    writing(map, v1) { txn =>
      put(txn, "c", "old c")
      val values = for (k <- Seq("a", "b", "c")) yield {
        val value = new Slice
        assert(txn.get(0, hashOf(k), slice(k), value))
        value
      }
      for (k <- Seq("a", "c")) put(txn, k, s"new $k")
      remove(txn, "b")
      for (i <- 1 to 1000) put(txn, s"k$i", "other")
      assert(values.map(text) == Seq("old a", "old b", "old c"))
      txn.commit(v2)
      assert(values.map(text) == Seq("old a", "old b", "old c"))
    }
  }

  testMap("M6: the bytes of a row stay when its cursor has gone on") { map =>
    commit(map, VersionId.Empty, v1)(txn => for (i <- 1 to 100) put(txn, s"k$i", s"v$i"))
    viewing(map, v1) { view =>
      val cursor = view.scan(0)
      val borrowed = Iterator.continually(cursor.next()).takeWhile(identity).map { _ =>
        val (key, value) = (cursor.key, cursor.value)
        (
          new Slice(key.base, key.offset, key.length),
          new Slice(value.base, value.offset, value.length)
        )
      }
      val found = borrowed.toVector
      commit(map, v1, v2)(txn => for (i <- 1 to 100) put(txn, s"k$i", "new"))
      map.retain(Set(v2))
      assert(
        asMap(found.map { case (k, v) => (text(k), text(v)) }) ==
          (1 to 100).map(i => s"k$i" -> s"v$i").toMap
      )
    }
  }

  testMap("families have indices in the order they were created, and are found by name") { map =>
    commit(map, VersionId.Empty, v1) { txn =>
      assert(txn.familyIndex("default") == 0)
      assert(txn.familyIndex("ordered") == -1)
      assert(txn.createFamily(ordered) == 1)
      assert(txn.createFamily(hashed.copy(name = "third")) == 2)
      put(txn, "k", "in default", 0)
      put(txn, "k", "in third", 2)
    }
    viewing(map, v1) { view =>
      assert(view.families.map(_.spec) == Seq(hashed, ordered, hashed.copy(name = "third")))
      assert(Seq("default", "ordered", "third", "").map(view.familyIndex) == Seq(0, 1, 2, -1))
      assert(allRows(view, 0) == Map("k" -> "in default"))
      assert(allRows(view, 1) == Map())
      assert(allRows(view, 2) == Map("k" -> "in third"))
    }
  }

  testMap("a dropped family is gone with its rows; older versions and views keep it") { map =>
    val many = (1 to 3000).map(i => s"k$i" -> i.toString).toMap
    for (spec <- Seq(hashed.copy(name = "h"), ordered)) {
      commit(map, VersionId.Empty, v1) { txn =>
        txn.createFamily(spec)
        txn.createFamily(hashed.copy(name = "last"))
        for ((k, v) <- many) put(txn, k, v, 1)
        put(txn, "k", "stays", 2)
      }
      val pinned = map.pin(v1)
      val txn = map.begin(v1)
      put(txn, "k1", "fleeting", 1)
      val cursor = txn.scan(1)
      assert(cursor.next())
      txn.dropFamily(1)
      assert(txn.dropped == Seq(spec.name))
      assert(txn.familyIndex(spec.name) == -1 && txn.familyIndex("last") == 1)
      assert(allRows(txn, 1) == Map("k" -> "stays"))
      assert(txn.changedGroups(1).isEmpty)
      assert(Iterator.continually(cursor.next()).takeWhile(identity).size == many.size - 1)
      val again = txn.createFamily(spec)
      put(txn, "new", "1", again)
      assert(allRows(txn, again) == Map("new" -> "1"))
      assert(txn.changedGroups(again).length == 1)
      txn.dropFamily(again)
      txn.createFamily(spec)
      put(txn, "new", "2", again)
      assert(txn.dropped == Seq(spec.name))
      txn.commit(v2)
      txn.release()
      viewing(map, v1)(view => assert(allRows(view, 1) == many))
      viewing(map, v2)(view => assert(allRows(view, again) == Map("new" -> "2")))
      map.retain(Set(v2))
      assert(allRows(pinned, 1) == many)
      pinned.release()
      map.retain(_ => false)
    }
  }

  testMap("the mark of a family is of the version that set it, and those after it") { map =>
    commit(map, VersionId.Empty, v1)(put(_, "k", "1"))
    def strays(version: VersionId) = viewing(map, version)(_.families.map(_.spec.strays))
    val aborted = map.begin(v1)
    aborted.markStrays(0)
    assert(!aborted.isUnchanged)
    aborted.release()
    assert(strays(v1) == Seq(false))
    commit(map, v1, v2) { txn =>
      txn.markStrays(0)
      assert(allRows(txn) == Map("k" -> "1") && txn.changedGroups(0).isEmpty)
    }
    assert(strays(v1) == Seq(false) && strays(v2) == Seq(true))
    writing(map, v2) { txn =>
      assert(txn.families.map(_.spec.strays) == Seq(true) && txn.isUnchanged)
    }
  }

  testMap("a drop that is aborted leaves the family and its rows") { map =>
    commit(map, VersionId.Empty, v1)(put(_, "k", "1"))
    val txn = map.begin(v1)
    txn.dropFamily(0)
    assert(txn.families.isEmpty)
    txn.release()
    viewing(map, v1)(view => assert(allRows(view) == Map("k" -> "1")))
  }

  testMap("families count keys, values and bytes of what they hold") { map =>
    writing(map, VersionId.Empty) { txn =>
      def counts = {
        val family = txn.families(0)
        (family.keys, family.values, family.bytes)
      }
      assert(counts == ((0, 0, 0)))
      put(txn, "key", "12345")
      assert(counts == ((1, 1, 8)))
      put(txn, "key", "1")
      assert(counts == ((1, 1, 4)))
      put(txn, "", "")
      assert(counts == ((2, 2, 4)))
      remove(txn, "absent")
      assert(counts == ((2, 2, 4)))
      remove(txn, "key")
      assert(counts == ((1, 1, 0)))
      remove(txn, "")
      assert(counts == ((0, 0, 0)))
    }
  }

  testMap("the key groups of a family are those that have rows") { map =>
    writing(map, VersionId.Empty) { txn =>
      for (family <- Seq(0, txn.createFamily(ordered))) {
        val keys = Seq("", "a", "b", "aa", "aaa", "aaaaaa")
        for (k <- keys) put(txn, k, "1", family)
        val told = txn.groups(family)
        val groups =
          if (isInMemory) told
          else told.filter(group => rows(txn.scanGroup(family, group)).nonEmpty)
        assert(groups.toSeq.sorted == keys.map(groupOf).distinct.sorted)
        for (group <- 0 until keyGroups) {
          val expected = keys.filter(groupOf(_) == group).toSet
          assert(asMap(rows(txn.scanGroup(family, group))).keySet == expected)
        }
        for (k <- Seq("a", "b")) remove(txn, k, family)
        if (isInMemory) assert(!txn.groups(family).contains(groupOf("a")))
        assert(rows(txn.scanGroup(family, groupOf("a"))).isEmpty)
      }
    }
  }

  testMap("changes are net: one for each key that is not as the base has it") { map =>
    commit(map, VersionId.Empty, v1)(txn => for (k <- Seq("a", "b", "c", "d")) put(txn, k, "1"))
    writing(map, v1) { txn =>
      put(txn, "a", "2")
      put(txn, "a", "3")
      remove(txn, "b")
      remove(txn, "c")
      put(txn, "c", "4")
      put(txn, "new", "5")
      put(txn, "undone", "6")
      remove(txn, "undone")
      remove(txn, "absent")
      assert(
        changes(txn) ==
          Map("a" -> Some("3"), "b" -> None, "c" -> Some("4"), "new" -> Some("5"))
      )
    }
  }

  testMap("changes are told by family and key group, also of a family just created") { map =>
    writing(map, VersionId.Empty) { txn =>
      val other = txn.createFamily(ordered)
      put(txn, "a", "1")
      put(txn, "aa", "2", other)
      assert(txn.changedGroups(0).toSeq == Seq(groupOf("a")))
      assert(txn.changedGroups(other).toSeq == Seq(groupOf("aa")))
      assert(changes(txn) == Map("a" -> Some("1")))
      assert(changes(txn, other) == Map("aa" -> Some("2")))
      assert(!txn.changes(0, groupOf("aa")).next())
    }
  }

  testMap("removing tells whether the key was there") { map =>
    writing(map, VersionId.Empty) { txn =>
      assert(!remove(txn, "a"))
      put(txn, "a", "1")
      assert(remove(txn, "a"))
      assert(!remove(txn, "a"))
    }
  }

  testMap("an ordered family is scanned in the order of unsigned bytes") { map =>
    writing(map, VersionId.Empty) { txn =>
      val family = txn.createFamily(ordered)
      val inOrder = Seq("", "00", "0000", "61", "6100", "7f", "80", "ff", "ff00", "ffff")
      def bytes(hex: String) = new Slice().set(java.util.HexFormat.of.parseHex(hex))
      for ((hex, i) <- inOrder.reverse.zipWithIndex) txn.put(family, i, bytes(hex), bytes(hex))
      def keys(cursor: RowCursor) = Iterator
        .continually(cursor.next())
        .takeWhile(identity)
        .map(_ => java.util.HexFormat.of.formatHex(cursor.key.toArray))
        .toSeq
      assert(keys(txn.scan(family)) == inOrder)
      assert(keys(txn.scanPrefix(family, bytes(""))) == inOrder)
      assert(keys(txn.scanPrefix(family, bytes("61"))) == Seq("61", "6100"))
      assert(keys(txn.scanPrefix(family, bytes("ff"))) == Seq("ff", "ff00", "ffff"))
      assert(keys(txn.scanPrefix(family, bytes("ffff"))) == Seq("ffff"))
      assert(keys(txn.scanPrefix(family, bytes("62"))) == Seq())
      assert(keys(txn.scanPrefix(family, bytes("ffffff"))) == Seq())
    }
  }

  testMap("many rows, large rows and empty rows are found again") { map =>
    val large = "x" * 1000000
    commit(map, VersionId.Empty, v1) { txn =>
      for (i <- 1 to 20000) put(txn, s"k$i", s"v$i")
      put(txn, "large", large)
      put(txn, "", "")
    }
    commit(map, v1, v2)(txn => for (i <- 1 to 20000 by 2) assert(remove(txn, s"k$i")))
    viewing(map, v2) { view =>
      for (i <- 1 to 20000) {
        assert(valueOf(view, s"k$i") == (if (i % 2 == 0) Some(s"v$i") else None))
      }
      assert(valueOf(view, "large").contains(large))
      assert(valueOf(view, "").contains(""))
      assert(view.families(0).keys == 10002)
    }
    assert(map.memory.total > 1000000)
  }

  test("4000 random sequences of operations give what a plain map gives") {
    forEach(MapOperations.sequences, times = 4000, MapOperations.fewer) { operations =>
      val map = newMap(StateMapModel.KeyGroups)
      try {
        new StateMapModel(map, tellsAdded, isInMemory).run(operations)
        checkNothingLeft(map)
      } finally map.close()
    }
  }
}
