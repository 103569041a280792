package io.keyfold.store

import io.keyfold.errors.OutOfOrder
import io.keyfold.map.arena.ArenaMap
import io.keyfold.map.{LocalBytes, MapTxn, MapView, StateMap}
import io.keyfold.mem.arena.MemoryUse
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** Versions that are lost from memory while a transaction begins, as after a local disk that fails.
  */
class LostVersionsSuite extends AnyFunSuite {
  import StoreFixture._

  private final class LosingMap(inner: StateMap) extends StateMap {
    var loses = false
    private var lost = false
    override def holds(version: VersionId): Boolean = !lost && inner.holds(version)
    override def pin(version: VersionId): MapView = inner.pin(version)
    override def begin(base: VersionId): MapTxn = inner.begin(base)
    override def retain(keep: VersionId => Boolean): Unit = {
      inner.retain(keep)
      lost = loses
    }
    override def memory: MemoryUse = inner.memory
    override def newLocalBytes(): Option[LocalBytes] = inner.newLocalBytes()
    override def close(): Unit = inner.close()
  }

  for (base <- Seq(1, 2))
    test(s"what was begun on version $base of 2 is not committed, and the retry is") {
      val fixture = new StoreFixture
      var map: LosingMap = null
      val store = new VersionedStore(
        fixture.location,
        settings,
        Seq(fixture.family),
        fixture.blobs,
        clock,
        _ => (),
        _ => (),
        keyGroups => {
          map = new LosingMap(new ArenaMap(keyGroups, fixture.pool))
          map
        }
      )
      for (v <- 1 to 2) fixture.commit(store, v - 1L, s"k$v" -> v.toString)
      map.loses = true
      val txn = store.begin(VersionId(base.toLong))
      put(txn, s"k${base + 1}", (base + 1).toString)
      intercept[OutOfOrder](txn.commit())
      txn.release()
      assert(fixture.loaded(2) == expected(2))
      fixture.commit(store, base.toLong, s"k${base + 1}" -> (base + 1).toString)
      assert(fixture.loaded(base + 1L) == expected(base + 1))
    }
}
