package io.keyfold.map

import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.page.PagePool
import io.keyfold.model.VersionId
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

/** What a transaction keeps for cursors that are closed before their end. */
class ClosedCursorSuite extends AnyFunSuite with StateMapTexts {
  import ClosedCursorSuite._

  for (spec <- Seq(hashed, ordered, lists, orderedLists)) {
    val name = s"${spec.name}, ${if (spec.multiValue) "lists" else "values"}"

    /** Opens, steps and closes 10,000 cursors, a row put each time in between.
      *
      * @return
      *   objects that live after 100 of them and after all
      */
    def objects(outer: Boolean): (Long, Long) = {
      val map = new ArenaMap(keyGroups, new PagePool(1L << 30, None))
      val txn = map.begin(VersionId.Empty)
      val family = txn.createFamily(spec)
      for (i <- 0 until Keys) put(txn, key(i), "0", family)
      val kept = if (outer) Some(txn.scan(family)) else None
      kept.foreach(_.next())
      def after(cursors: Range): Long = {
        for (n <- cursors) {
          val cursor = txn.scan(family)
          assert(cursor.next())
          cursor.close()
          putAndRemove(txn, Keys + n % 10, family)
        }
        map.liveObjects
      }
      val live = (after(1 to 100), after(101 to 10000))
      kept.foreach(cursor => assert(1 + rowCount(cursor) == Keys))
      txn.release()
      map.retain(_ => false)
      assert(map.liveObjects == 0)
      map.close()
      live
    }

    test(s"$name: a cursor that is closed early keeps no page of what is written after it") {
      val (few, all) = objects(outer = false)
      assert(all <= few + Slack)
    }

    test(s"$name: nor does it while an older cursor is open, which still shows its rows") {
      val (few, all) = objects(outer = true)
      assert(all <= few + Slack)
    }

    test(s"$name: cursors closed in any order give back what none of them needs") {
      val map = new ArenaMap(keyGroups, new PagePool(1L << 30, None))
      val txn = map.begin(VersionId.Empty)
      val family = txn.createFamily(spec)
      for (i <- 0 until Keys) put(txn, key(i), "0", family)
      def inAnyOrder(): Long = {
        for (order <- Seq(0, 1, 2).permutations) {
          val cursors = for (n <- 0 to 2) yield {
            val cursor = txn.scan(family)
            assert(cursor.next())
            for (i <- 0 until 10) putAndRemove(txn, Keys + 10 * n + i, family)
            cursor
          }
          order.foreach(cursors(_).close())
        }
        map.liveObjects
      }
      val few = inAnyOrder()
      val all = Seq.fill(50)(inAnyOrder()).last
      assert(all <= few + Slack)
      txn.release()
      map.close()
    }
  }

  /** Before another cursor is opened: a row that a cursor has shown stays in any case. */
  private def putAndRemove(txn: MapTxn, row: Int, family: Int): Assertion = {
    put(txn, key(row), "1", family)
    assert(remove(txn, key(row), family))
  }

  private def rowCount(cursor: RowCursor) =
    Iterator.continually(cursor.next()).takeWhile(identity).size
}

private object ClosedCursorSuite {
  private val Keys = 3000

  /** Where rows that come and go split pages depends on the map's secret. */
  private val Slack = 20L

  private def key(i: Int) = f"$i%06d"
}
