package io.keyfold.map.arena

import io.keyfold.errors.{OutOfMemory, OutOfOrder}
import io.keyfold.map.{MapSuite, RangesAndListsSuiteBase, StateMap, StateMapSuiteBase}
import io.keyfold.mem.page.PagePool
import io.keyfold.model.VersionId
import org.scalatest.concurrent.Eventually._
import org.scalatest.time.SpanSugar._

/** Maps of the engine. */
trait ArenaMaps { this: MapSuite =>
  override protected def newMap(keyGroups: Int): StateMap =
    new ArenaMap(keyGroups, new PagePool(1L << 30, None))

  override protected def checkNothingLeft(map: StateMap): Unit = {
    map.retain(_ => false)
    assert(map.asInstanceOf[ArenaMap].liveObjects == 0)
    ()
  }
}

class ArenaRangesAndListsSuite extends RangesAndListsSuiteBase with ArenaMaps

class ArenaMapSuite extends StateMapSuiteBase with ArenaMaps {

  /** In a method of its own, so that nothing of it stays on the stack. */
  private def forgetSome(map: ArenaMap): Unit = {
    val txn = map.begin(VersionId.Empty)
    txn.createFamily(hashed)
    for (i <- 1 to 1000) put(txn, s"k$i", "1")
    assert(txn.scan(0).next())
    for (i <- 1 to 1000) put(txn, s"k$i", "2")
  }

  test("a transaction that is forgotten frees its memory and lets others begin") {
    val map = new ArenaMap(6, new PagePool(1L << 30, None))
    forgetSome(map)
    assert(map.liveObjects > 0)
    eventually(timeout(30.seconds), interval(50.millis)) {
      System.gc()
      assert(map.liveObjects == 0)
    }
    map.begin(VersionId.Empty).release()
  }

  test("when memory runs out views stay, versions are to be loaded anew, and all is given back") {
    for (spec <- Seq(hashed, ordered, lists, orderedLists)) {
      val pool = new PagePool(4L << 20, None)
      val map = new ArenaMap(6, pool)
      commit(map, VersionId.Empty, v1) { txn =>
        val family = if (spec == hashed) 0 else txn.createFamily(spec)
        for (i <- 1 to 1000) put(txn, s"k$i", "1", family)
      }
      val view = map.pin(v1)
      val family = view.familyIndex(spec.name)
      val txn = map.begin(v1)
      val full = intercept[OutOfMemory] {
        for (i <- 1 to 1000000) {
          put(txn, s"k$i", "more", family)
          if (spec.multiValue) append(txn, s"k${i / 2}", "even more", family)
        }
      }
      assert(full.getMessage.contains("memory.maxBytes"))
      intercept[OutOfOrder](put(txn, "k1", "again", family))
      txn.abort()
      txn.release()
      assert(!map.holds(v1))
      assert(allRows(view, family) == (1 to 1000).map(i => s"k$i" -> "1").toMap)
      view.release()
      assert(pool.allocatedBytes == 0)
    }
  }

  for (told <- Seq(1, 10, 2000, 3072, 3073, Int.MaxValue))
    test(s"of $told rows that are told, 2000 may come; for up to 3072 the table has room at once") {
      val map = new ArenaMap(1, new PagePool(1L << 30, None))
      def used = map.memory.total - map.memory.free
      commit(map, VersionId.Empty, v1) { txn =>
        txn.expect(0, told)
        put(txn, "k1", "1")
        assert((used >= told * 8L) == (told <= 3072))
        for (i <- 2 to 2000) put(txn, s"k$i", "1")
      }
      val view = map.pin(v1)
      assert(allRows(view) == (1 to 2000).map(i => s"k$i" -> "1").toMap)
      view.release()
      map.close()
    }

  test("a version that is pinned for long costs each key once, however many follow it") {
    val map = new ArenaMap(6, new PagePool(1L << 30, None))
    val keys = (1 to 10).map(i => s"k$i")
    commit(map, VersionId.Empty, v1)(txn => for (k <- keys) put(txn, k, "1"))
    val view = map.pin(v1)
    def batch(number: Long) = {
      commit(map, VersionId(number - 1), VersionId(number)) { txn =>
        for (k <- keys) if (number % 3 == 0) remove(txn, k) else put(txn, k, number.toString)
        put(txn, s"new$number", "new")
        remove(txn, s"new${number - 1}")
      }
      map.retain(_.version >= number - 1)
    }
    for (number <- 2L to 10L) batch(number)
    val before = map.liveObjects
    for (number <- 11L to 100L) batch(number)
    assert(map.liveObjects <= before + keys.size)
    assert(allRows(view) == keys.map(_ -> "1").toMap)
    view.release()
    assert(rowsOf(map, VersionId(100)) == keys.map(_ -> "100").toMap + ("new100" -> "new"))
    map.retain(_ => false)
    assert(map.liveObjects == 0)
  }

  test("a closed map stays readable to who has pinned it, and then is gone") {
    val pool = new PagePool(1L << 30, None)
    val map = new ArenaMap(6, pool)
    commit(map, VersionId.Empty, v1)(put(_, "k", "1"))
    val view = map.pin(v1)
    val txn = map.begin(v1)
    put(txn, "k", "2")
    map.close()
    assert(allRows(view) == Map("k" -> "1") && allRows(txn) == Map("k" -> "2"))
    txn.commit(v2)
    txn.release()
    assert(allRows(view) == Map("k" -> "1"))
    view.release()
    assert(pool.allocatedBytes == 0)
    intercept[OutOfOrder](map.begin(VersionId.Empty))
  }
}
