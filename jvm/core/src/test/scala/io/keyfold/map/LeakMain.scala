package io.keyfold.map

import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.{Mem, Slice}
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}
import io.keyfold.testkit.ProcessUse

/** `LeakMain <cycles>`: puts and removes as many rows in each kind of index of one map, over many
  * versions, and prints a line after each twentieth of them: objects that live and resident bytes,
  * with no row in the map.
  *
  * Of a process of its own, since the checks that other tests run with note every object on the
  * heap.
  */
object LeakMain {
  private val Parts = 20
  private val CyclesPerVersion = 1000
  private val KeyGroups = 24

  def main(arguments: Array[String]): Unit = {
    require(!Mem.Checks)
    val pool = new PagePool(1L << 30, None)
    val map = new ArenaMap(KeyGroups, pool)
    val versions = arguments(0).toInt / CyclesPerVersion
    var newest = VersionId.Empty
    var before = newest
    for (v <- 1 to versions) {
      // What is put in one version is removed in the next, half of it in the same.
      before = newest
      newest = commit(map, newest) { txn =>
        if (v > 1) for (i <- 1 to CyclesPerVersion by 2) require(remove(txn, (v - 1) * 10000 + i))
        if (v < versions) for (i <- 1 to CyclesPerVersion) put(txn, v * 10000 + i)
        if (v < versions) for (i <- 2 to CyclesPerVersion by 2) require(remove(txn, v * 10000 + i))
      }
      map.retain(Set(before, newest))
      if (v % (versions / Parts) == 0) println(s"${map.liveObjects} ${ProcessUse.resident()}")
    }
    map.retain(Set(newest))
    println(s"${map.liveObjects} ${ProcessUse.resident()}")
    map.retain(_ => false)
    println(s"${map.liveObjects} ${pool.allocatedBytes}")
  }

  /** A row of a hashed family and one of an ordered one; bytes of values vary. */
  private def put(txn: MapTxn, i: Int): Unit = for (family <- 0 to 1) {
    txn.put(family, i, key(i), new Slice().set(new Array[Byte](i * 7 % 300)))
  }

  private def remove(txn: MapTxn, i: Int): Boolean =
    (0 to 1).forall(family => txn.remove(family, i, key(i)))

  private def key(i: Int) = new Slice().set(f"$i%016x".getBytes)

  private def commit(map: ArenaMap, base: VersionId)(body: MapTxn => Unit): VersionId = {
    val txn = map.begin(base)
    if (base == VersionId.Empty) {
      for (ordered <- Seq(false, true)) {
        txn.createFamily(
          FamilySpec(ordered.toString, false, false, ordered, "row", "unsaferow", "all", 0, 0)
        )
      }
    }
    body(txn)
    val version = VersionId(base.version + 1)
    txn.commit(version)
    txn.release()
    version
  }
}
