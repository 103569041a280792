package io.keyfold.map

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.{HeldMemory, Slice}
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}
import io.keyfold.testkit.Running
import org.scalatest.concurrent.Eventually._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** M7: a view that is released or aborted while another thread uses it, as Spark does when a query
  * stops whose Python side still asks for state. Checks are on: an access to what was freed is an
  * error.
  */
class ReleaseBesideCallSuite extends AnyFunSuite with StateMapTexts {
  import ReleaseBesideCallSuite._

  private def elsewhere[T](body: => T): T = new Running(body).result()

  for (spec <- Seq(hashed, ordered, lists, orderedLists)) {
    val name = if (spec.multiValue) spec.name else s"${spec.name} values"

    test(s"$name: a release waits for a put of another thread, and the map is whole after it") {
      val memory = new HeldMemory
      val map = filled(spec, memory.pool)
      val txn = map.begin(v1)
      val gate = memory.holdNext()
      val putting = new Running({
        var i = 0
        while (true) {
          put(txn, key(Keys + i), "x" * 500)
          i += 1
        }
      })
      gate.awaitArrival()
      val other = new Running({
        // Not the thread that began it: the transaction has been handed to `putting` already.
        txn.abort()
        txn.release()
      })
      other.awaitBlocked()
      assert(!other.isDone)
      gate.open()
      other.result()
      assert(intercept[OutOfOrder](putting.result()).getMessage.contains("ended"))
      checkWhole(map)
    }

    test(s"$name: no call and no step of a cursor of another thread comes in after a release") {
      val map = filled(spec, pool())
      for (released <- Seq(map.begin(v1), map.pin(v1))) {
        val cursors = elsewhere {
          val cursors = all(released)
          cursors.foreach(cursor => assert(cursor.next()))
          cursors
        }
        released.release()
        elsewhere {
          for (cursor <- cursors) {
            intercept[OutOfOrder](cursor.next())
            intercept[OutOfOrder](cursor.hash)
            if (spec.multiValue) intercept[OutOfOrder](cursor.nextValue())
            cursor.close()
          }
          refusesAll(released)
        }
        refusesAll(released)
        for (cursor <- cursors) intercept[OutOfOrder](cursor.next())
      }
      checkWhole(map)
    }

    test(s"$name: what another thread was given it may read for good") {
      val map = filled(spec, pool())
      val txn = map.begin(v1)
      val (value, fromCursors) = elsewhere {
        val value = new Slice
        assert(txn.get(0, hashOf(key(7)), slice(key(7)), value))
        val cursors = all(txn)
        cursors.foreach(cursor => assert(cursor.next()))
        (value, cursors.map(cursor => (cursor.key, cursor.value, text(cursor.key))))
      }
      txn.release()
      commit(map, v1, v2)(txn => for (i <- 0 until Keys) assert(remove(txn, key(i))))
      map.retain(Set(v2))
      elsewhere {
        assert(text(value) == valueOf(key(7)))
        for ((k, v, expected) <- fromCursors) {
          assert(text(k) == expected && text(v) == valueOf(expected))
        }
      }
      map.close()
    }

    test(s"$name: the thread that made a view is refused after its own release") {
      val map = filled(spec, pool())
      for (released <- Seq(map.begin(v1), map.pin(v1))) {
        val cursors = all(released)
        cursors.foreach(cursor => assert(cursor.next()))
        released.release()
        refusesAll(released)
        for (cursor <- cursors) {
          intercept[OutOfOrder](cursor.next())
          intercept[OutOfOrder](cursor.hash)
          cursor.close()
        }
      }
      checkWhole(map)
    }

    test(
      s"$name: released by another thread while only its own has it, nothing is freed under it"
    ) {
      val memory = new HeldMemory
      val map = filled(spec, memory.pool)
      val gate = memory.holdNext()
      val putting = new Running({
        val txn = map.begin(v1)
        shared = txn
        try
          for (i <- 0 until 100000) put(txn, key(Keys + i), "x" * 500)
        finally txn.release()
      })
      gate.awaitArrival()
      shared.abort()
      shared.release()
      // It may be in the middle of a change, so the map is given up: versions are loaded anew.
      assert(!map.holds(v1) && !map.holds(VersionId.Empty))
      intercept[OutOfOrder](map.begin(v1))
      assert(map.liveObjects > 0)
      gate.open()
      intercept[OutOfOrder](putting.result())
      assert(memory.pool.allocatedBytes == 0)
    }

    test(s"$name: a view released by another thread goes when its own has ended, or forgets it") {
      val map = filled(spec, pool())
      val view = elsewhere(map.pin(v1))
      map.close()
      view.release()
      assert(map.liveObjects == 0)
    }
  }

  @volatile private var shared: MapTxn = _

  test("a view that its own living thread has forgotten is freed when it is collected") {
    val map = filled(hashed, pool())
    forget(map)
    map.close()
    eventually(timeout(30.seconds), interval(50.millis)) {
      System.gc()
      assert(map.liveObjects == 0)
    }
  }

  /** Released by another thread, while this one might be using it. */
  private def forget(map: ArenaMap): Unit = {
    val view = map.pin(v1)
    elsewhere(view.release())
    assert(map.liveObjects > 0)
    ()
  }

  private def pool() = new PagePool(1L << 30, None)

  /** A map with one family, of that kind, in version 1. */
  private def filled(spec: FamilySpec, pool: PagePool): ArenaMap = {
    val map = new ArenaMap(keyGroups, pool)
    val txn = map.begin(VersionId.Empty)
    txn.createFamily(spec.copy(name = "default"))
    for (i <- 0 until Keys) put(txn, key(i), valueOf(key(i)))
    txn.commit(v1)
    txn.release()
    map
  }

  private def valueOf(key: String) = s"value of $key"

  private def all(view: MapView): Seq[RowCursor] = {
    val byKey = view.values(0, hashOf(key(7)), slice(key(7)))
    val scans = Seq(view.scan(0), view.scanGroup(0, groupOf(key(7))), byKey)
    if (!view.families.head.spec.ordered) scans
    else scans ++ Seq(view.scanPrefix(0, slice("0")), view.scanRange(0, null, null))
  }

  private def refusesAll(released: MapView): Unit = {
    val isOrdered = released.families.head.spec.ordered
    intercept[OutOfOrder](released.get(0, hashOf(key(7)), slice(key(7)), new Slice))
    intercept[OutOfOrder](released.values(0, hashOf(key(7)), slice(key(7))))
    intercept[OutOfOrder](released.scan(0))
    intercept[OutOfOrder](released.scanGroup(0, 0))
    if (isOrdered) {
      intercept[OutOfOrder](released.scanPrefix(0, slice("")))
      intercept[OutOfOrder](released.scanRange(0, null, null))
    }
    intercept[OutOfOrder](released.groups(0))
    released match {
      case txn: MapTxn =>
        intercept[OutOfOrder](put(txn, "k", "v"))
        if (txn.families.head.spec.multiValue) intercept[OutOfOrder](append(txn, "k", "v"))
        intercept[OutOfOrder](remove(txn, key(7)))
        if (isOrdered) intercept[OutOfOrder](txn.removeRange(0, null, null))
        intercept[OutOfOrder](txn.createFamily(hashed.copy(name = "another")))
        intercept[OutOfOrder](txn.dropFamily(0))
        intercept[OutOfOrder](txn.changedGroups(0))
        intercept[OutOfOrder](txn.changes(0, 0))
        intercept[OutOfOrder](txn.commit(v3))
        txn.abort()
      case _ => ()
    }
    released.release()
  }

  /** Version 1 is as it was, can be built on, and nothing is left in the end. */
  private def checkWhole(map: ArenaMap): Unit = {
    val expected = (0 until Keys).map(i => key(i) -> valueOf(key(i))).toMap
    assert(rowsOf(map, v1) == expected)
    commit(map, v1, v2)(txn => for (i <- 0 until 2 * Keys) put(txn, key(i), "again"))
    assert(rowsOf(map, v2) == (0 until 2 * Keys).map(key(_) -> "again").toMap)
    map.retain(_ => false)
    assert(map.liveObjects == 0)
    map.close()
  }
}

private object ReleaseBesideCallSuite {
  private val Keys = 1000

  private def key(i: Int) = f"$i%06d"
}
