package io.keyfold.map

import scala.collection.immutable.TreeMap
import scala.collection.mutable
import scala.util.Random

import io.keyfold.group.KeyGroups
import io.keyfold.map.arena.ArenaMap
import io.keyfold.mem.Slice
import io.keyfold.mem.page.PagePool
import io.keyfold.model.{FamilySpec, VersionId}
import io.keyfold.testkit.{Bytes, SeededChecks}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Versions with thousands of rows in few key groups, so that index pages are split, doubled,
  * halved and joined, while versions come, go and are gone back to.
  */
abstract class ManyRowsSuiteBase extends AnyFunSuite with SeededChecks {
  import ManyRowsSuiteBase._

  protected def newMap(keyGroups: Int): ArenaMap

  /** Whether a row to which a transaction only appended is always told by the values added. */
  protected def tellsAdded: Boolean = true

  for (multiValue <- Seq(false, true); ordered <- Seq(false, true)) {
    val kind = (if (ordered) "ordered" else "hashed") + (if (multiValue) " multi-value" else "")
    test(s"$kind rows by the thousand are as a plain map has them, in 6 random lives") {
      forEach(Gen.long, times = 6)(seed => {
        new Run(newMap(Groups), tellsAdded, ordered, multiValue, new Random(seed)).run()
      })
    }
  }
}

class ManyRowsSuite extends ManyRowsSuiteBase {
  override protected def newMap(keyGroups: Int): ArenaMap =
    new ArenaMap(keyGroups, new PagePool(1L << 30, None))
}

private object ManyRowsSuiteBase {
  private val Groups = 3
  private val Keys = 4000
  private val spec =
    FamilySpec("f", false, false, ordered = false, "row", "unsaferow", "none", 0, 0)

  private type Rows = TreeMap[Bytes, Vector[Bytes]]

  private final class Run(
      map: ArenaMap,
      tellsAdded: Boolean,
      ordered: Boolean,
      multiValue: Boolean,
      random: Random
  ) {

    /** Of a value. */
    private val mostBytes = if (random.nextInt(3) == 0) 800 else 40
    private var versions = Map[VersionId, Rows](VersionId.Empty -> (TreeMap.empty: Rows))
    private var newest = VersionId.Empty
    private val pins = mutable.Queue.empty[(MapView, Rows)]

    /** Open cursors of the transaction, with the rows that they must show and what they have shown.
      */
    private val cursors = mutable.ArrayBuffer.empty[Shown]

    def run(): Unit = {
      for (step <- 1 to 24) {
        if (random.nextInt(5) == 0) goBack()
        transaction(step)
        if (random.nextInt(3) == 0) pin()
        if (pins.size > 2) release()
        if (random.nextInt(3) == 0) while (pins.nonEmpty) release()
        retain()
      }
      while (pins.nonEmpty) release()
      map.retain(_ => false)
      assert(map.liveObjects == 0, "memory is left")
      assert(map.coldFiles == null || map.coldFiles.runs == 0, "runs are left")
      map.close()
    }

    private def goBack(): Unit = {
      newest = versions.keys.toSeq(random.nextInt(versions.size))
      retain()
    }

    /** Keeps the newest version and the one before it. */
    private def retain(): Unit = {
      val older = versions.keys.filter(_.version < newest.version).maxByOption(_.version)
      map.retain(Set(newest) ++ older)
      versions = versions.filter { case (v, _) => map.holds(v) }
    }

    private def transaction(step: Int): Unit = {
      val txn = map.begin(newest)
      if (txn.families.isEmpty)
        txn.createFamily(spec.copy(ordered = ordered, multiValue = multiValue))
      val before = versions(newest)
      val cut, written = mutable.Set.empty[Bytes]
      var rows = before
      def removed(k: Bytes) = if (before.contains(k)) cut += k else cut -= k
      // Now many, now few; now all of a range, so that pages run full or empty.
      val (from, count) = (random.nextInt(Keys), 1 << random.nextInt(12))
      val removing = random.nextBoolean()
      for (i <- 0 until count) {
        val k = key(if (random.nextInt(4) > 0) (from + i) % Keys else random.nextInt(Keys))
        written += k
        if (random.nextInt(10) < 8 == removing) {
          assert(txn.remove(0, hashOf(k), k.slice) == rows.contains(k))
          rows -= k
          removed(k)
        } else if (multiValue && random.nextInt(3) > 0) {
          val value = valueOfSome()
          txn.append(0, hashOf(k), k.slice, value.slice)
          rows = rows.updated(k, rows.getOrElse(k, Vector()) :+ value)
        } else {
          val value = valueOfSome()
          txn.put(0, hashOf(k), k.slice, value.slice)
          rows = rows.updated(k, Vector(value))
          cut += k
        }
        if (random.nextInt(8) == 0) assert(valuesOf(txn, k) == rows.get(k))
        if (random.nextInt(16) == 0) useCursors(txn, rows)
      }
      if (ordered && random.nextInt(4) == 0) {
        val (start, end) = (bound(), bound())
        val gone = within(rows, start, end).keySet
        assert(txn.removeRange(0, sliceOf(start), sliceOf(end)) == gone.size)
        rows --= gone
        gone.foreach(removed)
        written ++= gone
      }
      check(txn, rows)
      checkChanges(txn, before, rows, cut, written)
      if (random.nextInt(4) == 0) txn.abort()
      else {
        newest = VersionId(newest.version + 1, s"step$step")
        txn.commit(newest)
        versions += newest -> rows
        check(txn, rows)
      }
      cursors.clear()
      txn.release()
    }

    private def valueOfSome() =
      Bytes(f"${random.nextInt(256)}%02x" * random.nextInt(mostBytes))

    /** Opens one, or goes on with one and ends it now and then, in any order. */
    private def useCursors(txn: MapTxn, rows: Rows): Unit =
      if (cursors.isEmpty || (cursors.size < 4 && random.nextInt(4) == 0)) {
        val from = Option.when(ordered)(bound()).flatten
        val cursor =
          if (ordered) txn.scanRange(0, sliceOf(from), null)
          else if (random.nextBoolean()) txn.scan(0)
          else txn.scanGroup(0, groupOf(7))
        val whole = if (ordered) within(rows, from, None) else rows
        cursors += new Shown(cursor, whole)
        ()
      } else {
        val at = random.nextInt(cursors.size)
        val goesOn = cursors(at).step(1 << random.nextInt(9))
        if (!goesOn || random.nextInt(3) == 0) {
          cursors(at).cursor.close()
          cursors.remove(at)
          ()
        }
      }

    private def pin(): Unit = pins += ((map.pin(newest), versions(newest)))

    private def release(): Unit = {
      val (view, rows) = pins.dequeue()
      check(view, rows)
      view.release()
    }

    private def check(view: MapView, rows: Rows): Unit = if (view.families.nonEmpty) {
      assert(view.families.head.keys == rows.size)
      assert(view.families.head.values == rows.values.map(_.size).sum)
      val found = all(view.scan(0))
      assert(if (ordered) found == rows.toSeq else found.toMap == rows && found.size == rows.size)
      assert(view.groups(0).flatMap(g => all(view.scanGroup(0, g))).toMap == rows)
      if (ordered) for (_ <- 1 to 4) {
        val (start, end) = (bound(), bound())
        val found = all(view.scanRange(0, sliceOf(start), sliceOf(end)))
        assert(found == within(rows, start, end).toSeq)
      }
      for (_ <- 1 to 50) {
        val k = key(random.nextInt(Keys))
        assert(valuesOf(view, k) == rows.get(k))
        if (ordered) {
          val prefix = Bytes(k.hex.take(6))
          assert(
            all(view.scanPrefix(0, prefix.slice)) == rows.filter(_._1.startsWith(prefix)).toSeq
          )
        }
      }
    }

    /** One in four is open. */
    private def bound() = Option.when(random.nextInt(4) > 0)(key(random.nextInt(Keys)))

    /** @param cut
      *   keys whose rows were begun anew: put, or there before and removed
      */
    private def checkChanges(
        txn: MapTxn,
        before: Rows,
        after: Rows,
        cut: collection.Set[Bytes],
        written: collection.Set[Bytes]
    ): Unit = {
      val found = txn.changedGroups(0).toSeq.flatMap { group =>
        val change = txn.changes(0, group)
        Iterator
          .continually(change.next())
          .takeWhile(identity)
          .map { _ =>
            val values = if (change.removed) Vector() else CursorModel.valuesOf(change)
            (Bytes.of(change.key), change.appended, values)
          }
          .toList
      }
      assert(found.map(_._1).distinct.size == found.size, "two changes of one key")
      for ((k, appended, values) <- found) {
        assert(if (tellsAdded) appended == !cut(k) else !(appended && cut(k)))
        assert(
          (if (appended) before.getOrElse(k, Vector()) else Vector()) ++ values == after.getOrElse(
            k,
            Vector()
          )
        )
        assert(after.contains(k) || before.contains(k))
      }
      val keys = before.keySet ++ after.keySet
      val told = found.map(_._1).toSet
      assert(keys.filter(k => before.get(k) != after.get(k)).subsetOf(told))
      assert(told.subsetOf(written))
    }
  }

  private final class Shown(val cursor: RowCursor, rows: Rows) {
    private val seen = mutable.Set.empty[Bytes]

    /** @return whether there is more */
    def step(count: Int): Boolean = (1 to count).forall { _ =>
      cursor.next() && {
        val k = Bytes.of(cursor.key)
        assert(seen.add(k), s"$k came twice")
        assert(rows.get(k).contains(CursorModel.valuesOf(cursor)), s"for key $k")
        true
      }
    }
  }

  private def groupOf(hash: Int) = KeyGroups.groupOf(hash, Groups)

  private def key(i: Int) = Bytes(f"$i%08x" + "ab" * (i % 3))

  /** Half of all keys share one hash, and so a key group. */
  private def hashOf(key: Bytes) = if (key.hex.hashCode % 2 == 0) 7 else key.hex.hashCode

  private def sliceOf(bound: Option[Bytes]): Slice = bound.fold[Slice](null)(_.slice)

  private def within(rows: Rows, start: Option[Bytes], end: Option[Bytes]): Rows = {
    val above = start.fold(rows)(rows.rangeFrom)
    end.fold(above)(above.rangeUntil)
  }

  private def valuesOf(view: MapView, key: Bytes): Option[Vector[Bytes]] = {
    val row = view.values(0, hashOf(key), key.slice)
    val found = Option.when(row.next())(CursorModel.valuesOf(row))
    val first = new Slice
    assert(view.get(0, hashOf(key), key.slice, first) == found.nonEmpty)
    for (values <- found) assert(Bytes.of(first) == values.head)
    found
  }

  private def all(cursor: RowCursor): Seq[(Bytes, Vector[Bytes])] =
    Iterator
      .continually(cursor.next())
      .takeWhile(identity)
      .map(_ => Bytes.of(cursor.key) -> CursorModel.valuesOf(cursor))
      .toList
}
