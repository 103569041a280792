package io.keyfold.map.arena

import java.nio.file.Files

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.version.VersionNode
import io.keyfold.map.{MapTxn, StateMapTexts}
import io.keyfold.mem.arena.Arena
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.model.{FamilySpec, VersionId}
import org.scalatest.funsuite.AnyFunSuite

/** When rows leave memory by the rules that users' maps have. */
class RoomMakerSuite extends AnyFunSuite with StateMapTexts {
  import RoomMakerSuite._

  private final class Fixture(budgetBytes: Long) {
    val pool =
      new PagePool(budgetBytes, Some(new SpillFiles(Files.createTempDirectory("keyfold-room"))))
    var spills = 0

    final class Counted(arena: Arena, cold: ColdSpace, keyGroups: Int, pool: PagePool)
        extends RoomMaker(arena, cold, keyGroups, pool) {
      override def spill(node: VersionNode): Unit = {
        spills += 1
        super.spill(node)
      }
    }

    def newMap() = new ArenaMap(keyGroups, pool, 0, new Counted(_, _, _, _))
  }

  /** A map that gets version after version, of which it keeps the last. */
  private final class Versions(val map: ArenaMap, specs: FamilySpec*) {
    private var version = 0L

    def batch(body: MapTxn => Any): Unit = {
      val txn = map.begin(VersionId(version))
      if (version == 0) specs.foreach(txn.createFamily)
      body(txn)
      version += 1
      txn.commit(VersionId(version))
      txn.release()
      map.retain(_.version >= version)
    }

    def newest: VersionId = VersionId(version)
    def inMemory: Long = map.memory.offHeap - map.memory.free
  }

  private def fill(txn: MapTxn, bytes: Int, name: String = "row"): Unit =
    for (i <- 1 to bytes / KiB) put(txn, f"$name$i%06d", longText(i))

  for (spec <- Seq(lists, orderedLists))
    test(
      s"a long list of ${spec.name} comes back once for as much again as it has, not for each append"
    ) {
      val fixture = new Fixture(MiB)
      val it = new Versions(fixture.newMap(), hashed, spec)
      it.batch(fill(_, 700 * KiB))
      val values = (1 to 30000).map(i => f"value $i%010d")
      it.batch(txn => values.foreach(append(txn, "k", _, family = 1)))
      assert(fixture.spills > 0 && fixture.spills < 20)
      viewing(it.map, it.newest)(view => assert(valuesOf(view, "k", 1) == values))
      it.map.close()
    }

  test(
    "after a turn in which all rows left, but not enough, the next one does not wait for as many"
  ) {
    val fixture = new Fixture(4 * MiB)
    val it = new Versions(fixture.newMap(), hashed)
    it.batch(fill(_, 3 * MiB))
    val others = for (_ <- 1 to 20) yield {
      val other = new Versions(fixture.newMap(), hashed)
      other.batch(fill(_, 200 * KiB))
      other
    }
    for (i <- 1 to 20) it.batch(fill(_, 100 * KiB, s"batch$i-"))
    assert(it.inMemory < MiB)
    (it +: others).foreach(_.map.close())
  }
}

private object RoomMakerSuite {
  private val KiB = 1 << 10
  private val MiB = 1 << 20

  /** A row of it takes 1 KiB. */
  private def longText(i: Int) = s"$i,".repeat(KiB).take(KiB - 40)
}
