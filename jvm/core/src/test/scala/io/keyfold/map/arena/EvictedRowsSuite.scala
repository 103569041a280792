package io.keyfold.map.arena

import java.nio.file.Files

import io.keyfold.map.cold.ColdSpace
import io.keyfold.map.{
  ManyRowsSuiteBase,
  MapSuite,
  MapTxn,
  RangesAndListsSuiteBase,
  StateMap,
  StateMapSuiteBase,
  StateMapTexts
}
import io.keyfold.mem.arena.Arena
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.model.VersionId
import org.scalatest.funsuite.AnyFunSuite

/** Maps that are always short of memory: between two transactions all rows are in files. */
trait EvictingMaps { this: MapSuite =>

  /** Bytes that rows should leave memory of before each transaction. */
  protected def excess: Long = 1L << 40

  /** A transaction moves what it has written to files after so many writes. */
  protected def writesInMemory: Int = Int.MaxValue

  override protected def isInMemory: Boolean = false

  override protected def newMap(keyGroups: Int): StateMap = {
    Evicting.mapOf(keyGroups, excess, writesInMemory)
  }

  override protected def checkNothingLeft(map: StateMap): Unit = {
    map.retain(_ => false)
    assert(map.asInstanceOf[ArenaMap].liveObjects == 0)
    assert(map.asInstanceOf[ArenaMap].coldFiles.runs == 0)
    ()
  }
}

/** Transactions move what they write there too. */
trait SpillingMaps extends EvictingMaps { this: MapSuite =>
  override protected def writesInMemory: Int = 7
  override protected def tellsAdded: Boolean = false
}

/** Some rows stay: the first groups, in turns, give what is asked for. */
trait HalfEvictingMaps extends EvictingMaps { this: MapSuite =>
  override protected def excess: Long = 1
}

private final class Evicting(
    arena: Arena,
    cold: ColdSpace,
    keyGroups: Int,
    pool: PagePool,
    wanted: () => Long,
    writesInMemory: Int
) extends RoomMaker(arena, cold, keyGroups, pool) {
  private var writes = 0
  override protected def excess: Long = wanted()
  override def isShort: Boolean = excess > 0
  override def isFull: Boolean = excess > 0
  override def isPressed(longest: Long): Boolean = {
    writes += 1
    writes % writesInMemory == 0
  }
}

private object Evicting {

  /** @param excess
    *   bytes that rows should leave memory of, asked each time
    */
  def mapOf(keyGroups: Int, excess: => Long, writesInMemory: Int = Int.MaxValue): ArenaMap = {
    val files = new SpillFiles(Files.createTempDirectory("keyfold-evicted"))
    mapOn(files, keyGroups, excess, writesInMemory)
  }

  def mapOn(
      files: SpillFiles,
      keyGroups: Int,
      excess: => Long,
      writesInMemory: Int = Int.MaxValue
  ): ArenaMap = {
    val pool = new PagePool(1L << 30, Some(files))
    new ArenaMap(keyGroups, pool, 0, new Evicting(_, _, _, _, () => excess, writesInMemory))
  }
}

class EvictedRowsSuite extends StateMapSuiteBase with EvictingMaps {
  test("a row that was removed stays so when the runs that it hides a row of are dropped") {
    var wanted = 0L
    val map = Evicting.mapOf(keyGroups = 1, wanted)
    var version = 0L
    def batch(moved: Long)(write: MapTxn => Any): Unit = {
      wanted = moved
      commit(map, VersionId(version), VersionId(version + 1)) { txn =>
        write(txn)
        ()
      }
      map.retain(_.version >= version)
      version += 1
    }
    val all = 1L << 40
    val others = (1 to 9).map(i => s"other$i")
    batch(moved = 0)(txn => for (key <- "k" +: others) put(txn, key, "1"))
    batch(moved = all)(remove(_, "k"))
    batch(moved = all)(txn => others.foreach(remove(txn, _)))
    batch(moved = 0)(put(_, "k", "2"))
    batch(moved = 0)(remove(_, "k"))
    // What was written before the last batch is enough.
    batch(moved = 1)(_ => ())
    assert(rowsOf(map, VersionId(version)) == Map())
    viewing(map, VersionId(version))(view => assert(rows(view.scanGroup(0, 0)).isEmpty))
    map.close()
  }
}

class ReaderOfEvictedRowsSuite extends AnyFunSuite with StateMapTexts {
  for (spec <- Seq(hashed, ordered)) {
    test(s"rows of ${spec.name} that a reader keeps in memory leave it when the reader is done") {
      var wanted = 0L
      val map = Evicting.mapOf(keyGroups = 6, wanted)
      val rows = (1 to 100).map(i => s"k$i" -> "1").toMap
      val first = map.begin(VersionId.Empty)
      first.createFamily(spec)
      for ((k, v) <- rows) put(first, k, v)
      first.commit(v1)
      first.release()
      val view = map.pin(v1)
      wanted = 1L << 40
      val cursor = view.scan(0)
      assert(cursor.next())
      commit(map, v1, v2)(put(_, "k1", "2"))
      assert(map.memory.mapped == 0 && this.rows(cursor).size == 99 && allRows(view) == rows)
      view.release()
      assert(map.memory.mapped > 0)
      assert(rowsOf(map, v1) == rows && rowsOf(map, v2) == rows + ("k1" -> "2"))
      map.close()
    }
  }
}

/** Leaves of ordered families, and runs, by the hundred. */
class EvictedManyRowsSuite extends ManyRowsSuiteBase {
  override protected def newMap(keyGroups: Int): ArenaMap = Evicting.mapOf(keyGroups, 1L << 40)
}

class HalfEvictedManyRowsSuite extends ManyRowsSuiteBase {
  override protected def newMap(keyGroups: Int): ArenaMap = Evicting.mapOf(keyGroups, 1)
}

class SpilledManyRowsSuite extends ManyRowsSuiteBase {
  override protected def tellsAdded: Boolean = false
  override protected def newMap(keyGroups: Int): ArenaMap =
    Evicting.mapOf(keyGroups, 1L << 40, writesInMemory = 200)
}

class HalfSpilledManyRowsSuite extends ManyRowsSuiteBase {
  override protected def tellsAdded: Boolean = false
  override protected def newMap(keyGroups: Int): ArenaMap =
    Evicting.mapOf(keyGroups, 1, writesInMemory = 200)
}

class EvictedListsSuite extends RangesAndListsSuiteBase with EvictingMaps

class HalfEvictedRowsSuite extends StateMapSuiteBase with HalfEvictingMaps

class SpilledRowsSuite extends StateMapSuiteBase with SpillingMaps

class SpilledListsSuite extends RangesAndListsSuiteBase with SpillingMaps

/** Spilled over rows of the base that are in memory. */
class HalfSpilledRowsSuite extends StateMapSuiteBase with SpillingMaps {
  override protected def excess: Long = 1
}

class OnlySpilledRowsSuite extends StateMapSuiteBase with SpillingMaps {
  override protected def excess: Long = 0
}
