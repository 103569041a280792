package io.keyfold.map

import java.nio.ByteBuffer

import scala.util.Random

import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.Slice
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}
import org.scalatest.funsuite.AnyFunSuite

/** Batches as a count has them: each row is read in a view of the version before, then put. */
class ManyBatchesSuite extends AnyFunSuite {
  private val spec = FamilySpec("f", false, false, ordered = false, "row", "unsaferow", "all", 0, 0)

  test("counts of many batches over many key groups are right") {
    val map = new ArenaMap(5040, new PagePool(1L << 30, None))
    val random = new Random(1)
    val counts = new Array[Long](20000)
    val (key, value, found) = (new Slice, new Slice, new Slice)
    def bytes(a: Long, b: Long) = ByteBuffer.allocate(16).putLong(a).putLong(b).array
    for (batch <- 0 until 30) {
      val view = map.pin(VersionId(batch.toLong))
      val txn = map.begin(VersionId(batch.toLong))
      if (batch == 0) txn.createFamily(spec)
      for (_ <- 0 until 5000) {
        val k = random.nextInt(counts.length)
        key.set(bytes(0, k.toLong))
        val hash = k * 40503
        val read: MapView = if (batch == 0) txn else view
        val before =
          if (read.get(0, hash, key, found)) ByteBuffer.wrap(found.toArray).getLong(8) else 0L
        counts(k) = before + 1
        txn.put(0, hash, key, value.set(bytes(0, before + 1)))
      }
      for (group <- txn.changedGroups(0)) {
        val change = txn.changes(0, group)
        while (change.next()) ()
      }
      txn.commit(VersionId(batch + 1L))
      map.retain(_.version >= batch)
      txn.release()
      view.release()
    }
    val view = map.pin(VersionId(30))
    val cursor = view.scan(0)
    var rows = 0
    while (cursor.next()) {
      rows += 1
      val k = ByteBuffer.wrap(cursor.key.toArray).getLong(8).toInt
      assert(ByteBuffer.wrap(cursor.value.toArray).getLong(8) == counts(k))
    }
    assert(rows == counts.count(_ > 0))
    view.release()
    map.retain(_ => false)
    assert(map.liveObjects == 0)
    map.close()
  }
}
