package io.keyfold.map

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.page.PagePool
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** What of the heap it takes to go over an ordered family group by group, as a snapshot does. */
class GroupedHeapSuite extends AnyFunSuite with StateMapTexts {
  private val Rows = 200000

  /** Bytes that this thread has allocated on the heap, garbage included. */
  private def allocated = ManagementFactory.getThreadMXBean
    .asInstanceOf[ThreadMXBean]
    .getCurrentThreadAllocatedBytes

  for (groups <- Seq(1, 48)) {
    test(s"rows in $groups key groups: 4 bytes a row") {
      val map = new ArenaMap(groups, new PagePool(1L << 30, None))
      val txn = map.begin(VersionId.Empty)
      val family = txn.createFamily(ordered)
      for (i <- 0 until Rows) txn.put(family, i, slice(f"$i%08d"), slice("v"))
      txn.commit(v1)
      txn.release()
      val view = map.pin(v1)
      val before = allocated
      val found = view
        .groups(family)
        .map { group =>
          val cursor = view.scanGroup(family, group)
          var rows = 0
          while (cursor.next()) rows += 1
          rows
        }
        .sum
      val bytes = allocated - before
      assert(found == Rows)
      // With checks, each access allocates what names its handle.
      if (!io.keyfold.mem.Mem.Checks) assert(bytes < Rows * 4 + (1 << 18))
      view.release()
      map.close()
    }
  }
}
