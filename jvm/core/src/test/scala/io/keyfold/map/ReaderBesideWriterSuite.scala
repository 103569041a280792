package io.keyfold.map

import java.util.concurrent.{CyclicBarrier, TimeUnit}

import scala.collection.immutable.TreeMap
import scala.util.Random

import io.keyfold.map.arena.{ArenaMap, RowsOfView}
import io.keyfold.mem.Slice
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}
import io.keyfold.testkit.Running
import org.scalatest.funsuite.AnyFunSuite

/** Readers in threads of their own, beside the one that writes the versions after theirs. Rows are
  * so many that pages are split, doubled and joined; checks are on, so that a read of what was
  * freed is an error.
  */
class ReaderBesideWriterSuite extends AnyFunSuite with StateMapTexts {
  import ReaderBesideWriterSuite._

  private type Rows = TreeMap[String, String]

  private val lazily = hashed.copy(name = "lazy")

  for (spec <- Seq(hashed, ordered, lazily)) {
    test(s"${spec.name}: a cursor goes on in its thread while versions are written and let go") {
      val map = newMap()
      val rows1 = fill(map, spec)
      val (view, cursor) = new Running({
        val view = map.pin(v1)
        (view, view.scan(0))
      }).result()
      var seen = Seq.empty[(String, String)]
      def read(count: Int): Unit = seen ++= new Running(take(cursor, count)).result()

      read(1)
      val second = map.begin(v1)
      for (key <- rows1.keys) remove(second, key)
      read(Keys / 4)
      second.commit(v2)
      read(Keys / 4)
      second.release()
      map.retain(Set(v2))
      assert(!map.holds(v1))
      val third = map.begin(v2)
      for (i <- 0 until Keys * 2) put(third, key(i), "third")
      read(Keys / 4)
      third.abort()
      third.release()
      val value = new Slice
      assert(view.get(0, hashOf(key(7)), slice(key(7)), value))
      commit(map, v2, v3)(txn => for (i <- 0 until Keys) put(txn, key(i), "fourth"))
      read(Int.MaxValue)
      assert(if (spec.ordered) seen == rows1.toSeq else asMap(seen) == rows1)
      assert(text(value) == rows1(key(7)))
      new Running(view.release()).result()
      assert(rowsOf(map, v3) == (0 until Keys).map(key(_) -> "fourth").toMap)
      checkEmpty(map)
    }

    test(s"${spec.name}: readers of the last three versions read on while the next is written") {
      for (seed <- 1 to 3) new Rounds(spec, new Random(seed)).run()
    }
  }

  /** In each round, readers pin the version that was committed last. Then, at the same time, they
    * read that and the two pinned before it, and the writer writes: an attempt that is given up,
    * and the next version, going over rows that it changes.
    */
  private final class Rounds(spec: FamilySpec, random: Random) {
    private val map = newMap()
    private val barrier = new CyclicBarrier(Readers + 1)
    @volatile private var newest = (v1, fill(map, spec))

    private def meet(): Unit = {
      barrier.await(30, TimeUnit.SECONDS)
      ()
    }

    def run(): Unit = {
      val readers = (1 to Readers).map(i => new Running(read(new Random(random.nextLong() + i))))
      for (_ <- 1 to RoundCount) {
        meet() // the newest version is known
        meet() // it is pinned
        map.retain(Set(newest._1))
        attempt(commit = false)
        val next = attempt(commit = true)
        meet() // all have read
        newest = next
      }
      readers.foreach(_.result())
      checkEmpty(map)
    }

    private def attempt(commit: Boolean): (VersionId, Rows) = {
      val (base, before) = newest
      val txn = map.begin(base)
      var rows = before
      def change(key: String): Unit =
        if (random.nextInt(3) == 0) {
          assert(remove(txn, key) == rows.contains(key))
          rows -= key
        } else {
          val value = random.nextString(random.nextInt(30))
          put(txn, key, value)
          rows = rows.updated(key, text(slice(value)))
        }
      val from = random.nextInt(Keys)
      for (i <- 0 until Keys / 4) change(key((from + i) % Keys))
      val cursor = txn.scan(0)
      val atStart = rows
      var steps = 0
      while (steps < Keys / 4 && cursor.next()) {
        val k = text(cursor.key)
        assert(text(cursor.value) == atStart(k))
        change(k)
        steps += 1
      }
      val version = VersionId(base.version + 1)
      if (commit) txn.commit(version) else txn.abort()
      txn.release()
      (version, rows)
    }

    private def read(random: Random): Unit = {
      var pins = Vector.empty[(MapView, Rows, Seq[(Slice, String)])]
      def release(): Unit = {
        pins.head._1.release()
        pins = pins.tail
      }
      for (_ <- 1 to RoundCount) {
        meet()
        val (version, rows) = newest
        val view = map.pin(version)
        meet()
        pins :+= ((view, rows, borrow(view, rows)))
        for ((view, rows, borrowed) <- random.shuffle(pins)) check(view, rows, borrowed, random)
        if (pins.size == Pinned) release()
        meet()
      }
      while (pins.nonEmpty) release()
    }

    private def borrow(view: MapView, rows: Rows) =
      for ((key, expected) <- rows.toSeq.take(50)) yield {
        val value = new Slice
        assert(view.get(0, hashOf(key), slice(key), value))
        value -> expected
      }

    private def check(
        view: MapView,
        rows: Rows,
        borrowed: Seq[(Slice, String)],
        random: Random
    ): Unit = {
      for (_ <- 1 to 200) {
        val k = key(random.nextInt(Keys))
        assert(valueOf(view, k) == rows.get(k))
      }
      val all = take(view.scan(0), Int.MaxValue)
      assert(if (spec.ordered) all == rows.toSeq else asMap(all) == rows)
      for ((slice, expected) <- borrowed) assert(text(slice) == expected)
    }
  }

  private def newMap() = new ArenaMap(keyGroups, new PagePool(1L << 30, None))

  /** Commits version 1. */
  private def fill(map: ArenaMap, spec: FamilySpec): Rows = {
    val rows = TreeMap.from((0 until Keys).map(i => key(i) -> s"first $i"))
    val txn = map.begin(VersionId.Empty)
    txn.createFamily(spec.copy(name = "default"))
    if (spec eq lazily) {
      val other = newMap()
      val all = other.begin(VersionId.Empty)
      all.createFamily(hashed)
      for ((key, value) <- rows) put(all, key, value)
      txn.putLater(new RowsOfView(all, keyGroups), all.families)
      all.release()
    } else for ((key, value) <- rows) put(txn, key, value)
    txn.commit(v1)
    txn.release()
    rows
  }

  private def checkEmpty(map: ArenaMap): Unit = {
    map.retain(_ => false)
    assert(map.liveObjects == 0)
    map.close()
  }

  private def take(cursor: RowCursor, count: Int): Seq[(String, String)] = {
    val taken = Seq.newBuilder[(String, String)]
    var left = count
    while (left > 0 && cursor.next()) {
      taken += text(cursor.key) -> text(cursor.value)
      left -= 1
    }
    taken.result()
  }
}

private object ReaderBesideWriterSuite {
  private val Keys = 1200
  private val Readers = 2
  private val Pinned = 3
  private val RoundCount = 12

  private def key(i: Int) = f"$i%05d" + "x" * (i % 4)
}
