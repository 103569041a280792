package io.keyfold.map

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.arena.MemoryUse
import io.keyfold.mem.page.PagePool
import io.keyfold.model.VersionId

/** Everything that a map promises, with a counter of epochs that is at its end or comes to it. */
class WornEpochsSuite extends StateMapSuiteBase {
  import WornEpochsSuite._

  private var left = 0

  override protected def newMap(keyGroups: Int): StateMap = {
    // With none, a few or some epochs left.
    left = (left + 1) % 30
    new HeldAnyway(mapOf(keyGroups, Worn - left))
  }

  override protected def checkNothingLeft(map: StateMap): Unit = {
    map.retain(_ => false)
    assert(map.asInstanceOf[HeldAnyway].map.liveObjects == 0)
    ()
  }

  test("a map whose epochs are used up holds no version, so that it is loaded anew") {
    val map = mapOf(6, Worn - 4)
    commit(map, VersionId.Empty, v1) { txn =>
      for (i <- 1 to 1000) put(txn, s"k$i", "1")
      assert(map.holds(VersionId.Empty))
      while (map.holds(VersionId.Empty)) {
        put(txn, "k1", "2")
        val cursor = txn.scan(0)
        assert(cursor.next())
        cursor.close()
      }
    }
    assert(!map.holds(v1))
    map.close()
  }

  test("no transaction begins when there is no epoch for it") {
    val map = mapOf(6, Int.MaxValue - 1)
    commit(map, VersionId.Empty, v1)(put(_, "k", "1"))
    val refused = intercept[OutOfOrder](map.begin(v1))
    assert(refused.getMessage.contains("load"))
    assert(rowsOf(map, v1) == Map("k" -> "1"))
    map.close()
  }
}

private object WornEpochsSuite {

  /** When a map gives up holding versions. */
  private val Worn = 1 << 30

  private def mapOf(keyGroups: Int, firstEpoch: Int) =
    new ArenaMap(keyGroups, new PagePool(1L << 30, None), firstEpoch)

  /** A map that goes on when it should be loaded anew. */
  private final class HeldAnyway(val map: ArenaMap) extends StateMap {
    override def holds(version: VersionId): Boolean =
      try {
        map.pin(version).release()
        true
      } catch {
        case _: OutOfOrder => false
      }
    override def pin(version: VersionId): MapView = map.pin(version)
    override def begin(base: VersionId): MapTxn = map.begin(base)
    override def retain(keep: VersionId => Boolean): Unit = map.retain(keep)
    override def memory: MemoryUse = map.memory
    override def newLocalBytes(): Option[LocalBytes] = map.newLocalBytes()
    override def close(): Unit = map.close()
  }
}
