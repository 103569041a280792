package io.keyfold.map

import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.page.PagePool
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** A cursor whose view nobody has: it keeps the view, and with it the rows that it goes over. */
class ForgottenViewSuite extends AnyFunSuite with StateMapTexts {
  private val Keys = 20000

  for (spec <- Seq(hashed, ordered, lists)) {
    test(s"${spec.name}: rows stay for a cursor of a view that was forgotten") {
      val map = filled(spec)
      val cursor = map.pin(v1).scan(0)
      assert(cursor.next())
      map.close()
      collect()
      assert(rest(cursor) == Keys - 1)
    }

    test(s"${spec.name}: the same while later versions replace them") {
      val map = filled(spec)
      val cursor = map.pin(v1).scan(0)
      assert(cursor.next())
      commit(map, v1, v2)(txn => for (i <- 0 until Keys) remove(txn, f"$i%06d"))
      map.retain(Set(v2))
      collect()
      commit(map, v2, v3)(txn => for (i <- 0 until Keys) put(txn, f"$i%07d", "other"))
      assert(rest(cursor) == Keys - 1)
    }
  }

  private def filled(spec: io.keyfold.model.FamilySpec) = {
    val map = new ArenaMap(keyGroups, new PagePool(1L << 30, None))
    val txn = map.begin(VersionId.Empty)
    txn.createFamily(spec.copy(name = "default"))
    for (i <- 0 until Keys) put(txn, f"$i%06d", s"value $i")
    txn.commit(v1)
    txn.release()
    map
  }

  private def rest(cursor: RowCursor) =
    Iterator
      .continually(cursor.next())
      .takeWhile(identity)
      .map { _ =>
        assert(text(cursor.value).startsWith("value"))
      }
      .size

  /** Cleaners run some time after a collection. */
  private def collect(): Unit = for (_ <- 1 to 10) {
    System.gc()
    Thread.sleep(20)
  }
}
