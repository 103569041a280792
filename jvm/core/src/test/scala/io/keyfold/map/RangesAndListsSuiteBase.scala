package io.keyfold.map

import io.keyfold.errors.Invalid
import io.keyfold.model.{Family, VersionId}

/** Ranges of ordered families, and families of several values a key, for one implementation. */
abstract class RangesAndListsSuiteBase extends MapSuite {
  testMap("ordered rows are scanned and removed from a key, included, to another, excluded") {
    map =>
      writing(map, VersionId.Empty) { txn =>
        val family = txn.createFamily(ordered)
        val keys = (0 until 1000).map(i => f"k$i%03d")
        for (k <- keys) put(txn, k, "1", family)
        def found(start: String, end: String) = {
          val bounds = Seq(start, end).map(bound => if (bound == null) null else slice(bound))
          rows(txn.scanRange(family, bounds.head, bounds(1))).map(_._1)
        }
        assert(found(null, null) == keys)
        assert(found("", "k") == Nil)
        assert(found("k010", "k020") == keys.slice(10, 20))
        assert(found("k010+", "k019+") == keys.slice(11, 20))
        assert(found("k990", null) == keys.drop(990))
        assert(found(null, "k010") == keys.take(10))
        assert(found("k020", "k010") == Nil)
        assert(txn.removeRange(family, slice("k020"), slice("k010")) == 0)
        assert(txn.removeRange(family, slice("k100"), slice("k900")) == 800)
        assert(txn.removeRange(family, slice("k100"), slice("k900")) == 0)
        assert(found(null, null) == keys.take(100) ++ keys.drop(900))
        assert(txn.removeRange(family, slice("k950"), null) == 50)
        assert(txn.removeRange(family, null, slice("k050")) == 50)
        assert(found(null, null) == keys.slice(50, 100) ++ keys.slice(900, 950))
        assert(txn.groups(family).nonEmpty && txn.changedGroups(family).nonEmpty)
        assert(txn.removeRange(family, null, null) == 100)
        assert(txn.families(family) == Family(ordered, keys = 0, values = 0, bytes = 0))
        assert(txn.groups(family).isEmpty && txn.changedGroups(family).isEmpty)
      }
  }

  testMap("M5: a range scan goes on in key order while its range is removed") { map =>
    writing(map, VersionId.Empty) { txn =>
      val family = txn.createFamily(ordered)
      val keys = (0 until 300).map(i => f"k$i%03d")
      for (k <- keys) put(txn, k, "1", family)
      val cursor = txn.scanRange(family, slice("k100"), slice("k200"))
      assert(cursor.next() && text(cursor.key) == "k100")
      assert(txn.removeRange(family, slice("k000"), slice("k150")) == 150)
      for (k <- keys) put(txn, s"$k+", "2", family)
      assert(rows(cursor).map(_._1) == keys.slice(101, 200))
    }
  }

  testMap("ranges and several values are refused where a family has none, by name") { map =>
    writing(map, VersionId.Empty) { txn =>
      put(txn, "k", "1")
      def refused(run: => Any) = intercept[Invalid](run).getMessage
      assert(refused(txn.scanRange(0, null, null)).contains("default: it is not ordered"))
      assert(refused(txn.scanPrefix(0, slice(""))).contains("default: it is not ordered"))
      assert(refused(txn.removeRange(0, null, null)).contains("default: it is not ordered"))
      assert(refused(append(txn, "k", "2")).contains("default: it has one value a key"))
      assert(allRows(txn) == Map("k" -> "1"))
    }
  }

  for (spec <- Seq(lists, orderedLists)) {
    testMap(s"${spec.name}: values come in the order they were added") { map =>
      writing(map, VersionId.Empty) { txn =>
        val family = txn.createFamily(spec)
        append(txn, "a", "1", family)
        append(txn, "a", "", family)
        append(txn, "a", "333", family)
        put(txn, "b", "4", family)
        append(txn, "b", "5", family)
        assert(valuesOf(txn, "a", family) == Seq("1", "", "333"))
        assert(valueOf(txn, "a", family).contains("1"))
        assert(txn.families(family) == Family(spec, keys = 2, values = 5, bytes = 8))
        val scan = txn.scan(family)
        val found = Iterator.continually(scan.next()).takeWhile(identity).map { _ =>
          text(scan.key) -> valuesOf(scan)
        }
        assert(asMap(found.toSeq) == Map("a" -> Seq("1", "", "333"), "b" -> Seq("4", "5")))
        put(txn, "a", "only", family)
        assert(valuesOf(txn, "a", family) == Seq("only"))
        assert(remove(txn, "b", family) && valuesOf(txn, "b", family) == Nil)
        assert(txn.families(family) == Family(spec, keys = 1, values = 1, bytes = 5))
      }
    }

    testMap(s"${spec.name}: versions and views keep their values while others are added") { map =>
      commit(map, VersionId.Empty, v1)(txn => append(txn, "k", "1", txn.createFamily(spec)))
      commit(map, v1, v2)(append(_, "k", "2", 1))
      val view = map.pin(v2)
      commit(map, v2, v3)(append(_, "k", "3", 1))
      commit(map, v2, VersionId(3, "other"))(append(_, "k", "x", 1))
      writing(map, v3) { txn =>
        append(txn, "k", "given up", 1)
        put(txn, "k", "given up", 1)
        append(txn, "k", "given up", 1)
      }
      val held = Seq(v1, v2, v3, VersionId(3, "other"))
      assert(
        held.map(viewing(map, _)(valuesOf(_, "k", 1))) ==
          Seq(Seq("1"), Seq("1", "2"), Seq("1", "2", "3"), Seq("1", "2", "x"))
      )
      map.retain(Set(v3))
      commit(map, v3, VersionId(4))(put(_, "k", "4", 1))
      assert(valuesOf(view, "k", 1) == Seq("1", "2"))
      view.release()
      viewing(map, v3)(view => assert(valuesOf(view, "k", 1) == Seq("1", "2", "3")))
    }

    testMap(s"${spec.name}: a change has all values if the row was begun anew, else those added") {
      map =>
        commit(map, VersionId.Empty, v1) { txn =>
          val family = txn.createFamily(spec)
          for (k <- Seq("a", "b", "c", "d", "e", "f")) append(txn, k, "1", family)
        }
        writing(map, v1) { txn =>
          append(txn, "a", "2", 1)
          append(txn, "a", "3", 1)
          put(txn, "b", "2", 1)
          append(txn, "b", "3", 1)
          remove(txn, "c", 1)
          append(txn, "c", "2", 1)
          remove(txn, "d", 1)
          append(txn, "e", "2", 1)
          put(txn, "e", "1", 1)
          append(txn, "new", "1", 1)
          put(txn, "again", "1", 1)
          remove(txn, "again", 1)
          append(txn, "again", "2", 1)
          put(txn, "whole", "1", 1)
          append(txn, "whole", "2", 1)
          append(txn, "fleeting", "1", 1)
          remove(txn, "fleeting", 1)
          val found = for (group <- txn.changedGroups(1).toSeq) yield {
            val change = txn.changes(1, group)
            Iterator
              .continually(change.next())
              .takeWhile(identity)
              .map { _ =>
                val values = if (change.removed) Nil else valuesOf(change)
                text(change.key) -> ((change.appended, change.removed, values))
              }
              .toList
          }
          def whole(changes: Map[String, (Boolean, Boolean, Seq[String])]) =
            if (tellsAdded) changes
            else
              changes.map { case (k, (added, removed, values)) =>
                val before = if (added && Seq("a", "e").contains(k)) Seq("1") else Nil
                k -> ((false, removed, before ++ values))
              }
          assert(
            whole(asMap(found.flatten)) == whole(
              Map(
                "a" -> ((true, false, Seq("2", "3"))),
                "b" -> ((false, false, Seq("2", "3"))),
                "c" -> ((false, false, Seq("2"))),
                "d" -> ((false, true, Nil)),
                "e" -> ((false, false, Seq("1"))),
                "new" -> ((true, false, Seq("1"))),
                "again" -> ((true, false, Seq("2"))),
                "whole" -> ((false, false, Seq("1", "2")))
              )
            )
          )
        }
    }

    testMap(s"M5: values of ${spec.name} are those there were, whatever is written meanwhile") {
      map =>
        val numbers = (1 to 100).map(_.toString)
        commit(map, VersionId.Empty, v1) { txn =>
          val family = txn.createFamily(spec)
          for (i <- numbers.take(50)) append(txn, "k", i, family)
        }
        writing(map, v1) { txn =>
          for (i <- numbers.drop(50)) append(txn, "k", i, 1)
          val cursors = Seq(txn.values(1, hashOf("k"), slice("k")), txn.scan(1))
          for (cursor <- cursors) assert(cursor.next())
          for (_ <- 1 to 50) append(txn, "k", "later", 1)
          val first = cursors.map(cursor => text(cursor.value))
          remove(txn, "k", 1)
          for (_ <- 1 to 200) append(txn, "k", "even later", 1)
          val rest = cursors.map(cursor =>
            Seq.fill(99) {
              assert(cursor.nextValue())
              text(cursor.value)
            }
          )
          assert(first.zip(rest).map { case (one, others) =>
            one +: others
          } == Seq.fill(2)(numbers))
          assert(cursors.forall(cursor => !cursor.nextValue() && !cursor.next()))
        }
    }
  }

  // One that has left memory comes back whole.
  if (isInMemory) testMap("a list of many values is added to at the cost of one") { map =>
    commit(map, VersionId.Empty, v1) { txn =>
      val family = txn.createFamily(lists)
      for (i <- 1 to 200000) append(txn, "k", i.toString, family)
    }
    val before = map.memory.total
    for (v <- 1 to 100)
      commit(map, VersionId(v.toLong), VersionId(v + 1L))(append(_, "k", "new", 1))
    assert(map.memory.total - before < (1 << 20))
    viewing(map, VersionId(101)) { view =>
      assert(view.families(1).values == 200100)
      assert(valuesOf(view, "k", 1).takeRight(101) == "200000" +: Seq.fill(100)("new"))
    }
  }
}
