package io.keyfold.map

import scala.collection.immutable.TreeMap
import scala.collection.mutable

import io.keyfold.errors.StoreError
import io.keyfold.format.{Family, FamilySpec, VersionId}
import io.keyfold.mem.Slice
import io.keyfold.testkit.Bytes
import org.scalacheck.{Gen, Shrink}
import org.scalatest.Assertions

/** Runs operations on a [[StateMap]] and on plain maps, and compares. Every sequence can be run: an
  * operation without the transaction or view it needs does nothing, and numbers are taken modulo
  * what there is to choose from.
  */
private[map] final class StateMapModel(map: StateMap) extends Assertions {
  import StateMapModel._

  private val held = mutable.Map(VersionId.Empty -> State(Vector.empty))
  private val pins = mutable.ArrayBuffer.empty[Pin]
  private var open: Option[OpenTxn] = None
  private var attempts = 0

  /** Runs all and then compares everything that is still there. */
  def run(operations: List[Operation]): Unit = {
    operations.foreach(step)
    open.foreach(checkWhole)
    step(Abort)
    for ((version, state) <- held) {
      val view = map.pin(version)
      assertHolds(view, state)
      view.release()
    }
    while (pins.nonEmpty) step(Release(0))
  }

  private def step(operation: Operation): Unit = operation match {
    case Begin(version)       => begin(choose(versions, version))
    case Put(family, k, v)    => open.foreach(_.put(family, key(k), valueOf(v)))
    case Remove(family, k)    => open.foreach(_.remove(family, key(k)))
    case Get(family, k)       => open.foreach(_.get(family, key(k)))
    case Check                => open.foreach(checkWhole)
    case OpenCursor(kind, at) => open.foreach(_.openCursor(kind, at))
    case StepCursor(at, n)    => open.foreach(_.stepCursor(at, n))
    case Commit               => open.foreach(commit)
    case Abort                => open.foreach(abort)
    case PinVersion(version)  => if (pins.length < 4) pin(choose(versions, version))
    case CheckPin(at)         => if (pins.nonEmpty) choose(pins.toSeq, at).check()
    case Release(at)          => if (pins.nonEmpty) release(at % pins.length)
    case Retain(at, count)    => retain(choose(versions, at), count)
  }

  private def versions: Seq[VersionId] = held.keys.toSeq.sortBy(v => (v.version, v.id))

  private def begin(base: VersionId): Unit =
    if (open.isEmpty) open = Some(new OpenTxn(map.begin(base), base, held(base)))
    else {
      intercept[StoreError](map.begin(base))
      ()
    }

  private def commit(txn: OpenTxn): Unit = {
    checkWhole(txn)
    attempts += 1
    val version = VersionId(txn.base.version + 1, s"attempt$attempts")
    txn.rows.commit(version)
    assert(map.holds(version))
    held(version) = txn.state
    assertHolds(txn.rows, txn.state)
    end(txn)
  }

  private def abort(txn: OpenTxn): Unit = {
    txn.rows.abort()
    end(txn)
  }

  private def end(txn: OpenTxn): Unit = {
    txn.checkBorrowed()
    txn.rows.release()
    open = None
  }

  private def pin(version: VersionId): Unit = {
    val pinned = new Pin(map.pin(version), held(version))
    pinned.borrow()
    pins += pinned
    ()
  }

  private def release(at: Int): Unit = {
    val pinned = pins.remove(at)
    pinned.check()
    pinned.view.release()
    pinned.view.release()
  }

  /** Which of several attempts at one number are let go is the map's choice. */
  private def retain(newest: VersionId, count: Int): Unit = {
    map.retain(newest, count)
    val candidates = versions.filter(v => v.version > 0 && v.version <= newest.version)
    val kept = candidates.filter(map.holds)
    assert(map.holds(VersionId.Empty))
    assert(kept.length == (count min candidates.length))
    for (k <- kept; gone <- candidates.diff(kept)) assert(k.version >= gone.version)
    val newer = versions.filter(_.version > newest.version)
    assert(!newer.exists(map.holds))
    for (gone <- newer ++ candidates.diff(kept)) held -= gone
  }

  private def checkWhole(txn: OpenTxn): Unit = {
    assertHolds(txn.rows, txn.state)
    txn.checkChanges()
  }

  private def assertHolds(view: MapView, state: State): Unit = {
    assert(view.families == state.families.map(_.counted))
    for ((family, index) <- state.families.zipWithIndex) {
      assert(view.familyIndex(family.spec.name) == index)
      for (k <- Keys) assert(getFrom(view, index, k) == family.rows.get(k), s"for key $k")
      val scanned = rowsOf(view.scan(index))
      if (family.spec.ordered) {
        assert(scanned == family.rows.toSeq)
        for (prefix <- Prefixes) {
          val expected = family.rows.toSeq.filter(_._1.startsWith(prefix))
          assert(rowsOf(view.scanPrefix(index, prefix.slice)) == expected, s"for prefix $prefix")
        }
      } else assert(scanned.sorted == family.rows.toSeq)
      val byGroup = family.rows.toSeq.groupBy { case (k, _) => groupOf(k) }
      assert(view.groups(index).sorted.toSeq == byGroup.keys.toSeq.sorted)
      for (group <- 0 until KeyGroups) {
        val expected = byGroup.getOrElse(group, Nil)
        assert(rowsOf(view.scanGroup(index, group)).sorted == expected, s"for group $group")
      }
    }
    for (absent <- Specs.diff(state.families.map(_.spec))) {
      assert(view.familyIndex(absent.name) == -1)
    }
  }

  private def getFrom(view: MapView, family: Int, key: Bytes): Option[Bytes] = {
    val value = new Slice
    if (view.get(family, hashOf(key), key.slice, value)) Some(Bytes.of(value)) else None
  }

  private def rowsOf(cursor: RowCursor): Seq[(Bytes, Bytes)] = {
    val rows = Seq.newBuilder[(Bytes, Bytes)]
    while (cursor.next()) {
      val k = Bytes.of(cursor.key)
      assert(cursor.hash == hashOf(k))
      rows += k -> Bytes.of(cursor.value)
    }
    rows.result()
  }

  /** A view with bytes borrowed from it, which must stay until it is released. */
  private final class Pin(val view: MapView, state: State) {
    private var borrowed = Seq.empty[(Slice, Bytes)]

    def borrow(): Unit = borrowed = for {
      (family, index) <- state.families.zipWithIndex
      (k, expected) <- family.rows.toSeq
    } yield {
      val value = new Slice
      assert(view.get(index, hashOf(k), k.slice, value))
      value -> expected
    }

    def check(): Unit = {
      assertHolds(view, state)
      for ((slice, expected) <- borrowed) assert(Bytes.of(slice) == expected)
    }
  }

  private final class OpenTxn(val rows: MapTxn, val base: VersionId, start: State) {
    private val borrowed = mutable.ArrayBuffer.empty[(Slice, Bytes)]
    private val cursors = mutable.ArrayBuffer.empty[OpenCursorModel]

    /** Keys written to, by family name. */
    private val touched = mutable.Set.empty[(String, Bytes)]
    var state: State = start

    def put(family: Int, key: Bytes, value: Bytes): Unit = {
      val index = create(family)
      val (keyArray, valueArray) = (key.array, value.array)
      rows.put(index, hashOf(key), new Slice().set(keyArray), new Slice().set(valueArray))
      java.util.Arrays.fill(keyArray, 0x55.toByte)
      java.util.Arrays.fill(valueArray, 0x55.toByte)
      change(index, key, _.updated(key, value))
    }

    def remove(family: Int, key: Bytes): Unit = {
      val index = create(family)
      val found = rows.remove(index, hashOf(key), key.slice)
      assert(found == state.families(index).rows.contains(key))
      change(index, key, _.removed(key))
    }

    /** Index of one of the two families, which is made by the first write to it. */
    private def create(family: Int): Int = {
      val spec = choose(Specs, family)
      state.indexOf(spec).getOrElse {
        val index = rows.createFamily(spec)
        assert(index == state.families.length)
        state = State(state.families :+ FamilyState(spec, TreeMap.empty))
        index
      }
    }

    private def change(index: Int, key: Bytes, by: Rows => Rows): Unit = {
      val before = state.families(index)
      val after = before.copy(rows = by(before.rows))
      state = State(state.families.updated(index, after))
      touched += ((before.spec.name, key))
    }

    def get(family: Int, key: Bytes): Unit =
      for (index <- state.indexOf(choose(Specs, family))) {
        val value = new Slice
        val found = rows.get(index, hashOf(key), key.slice, value)
        val expected = state.families(index).rows.get(key)
        assert(found == expected.isDefined)
        for (bytes <- expected) {
          assert(Bytes.of(value) == bytes)
          borrowed += value -> bytes
        }
      }

    def checkBorrowed(): Unit =
      for ((slice, expected) <- borrowed) assert(Bytes.of(slice) == expected)

    def checkChanges(): Unit = for ((family, index) <- state.families.zipWithIndex) {
      val before = start.indexOf(family.spec).fold(NoRows)(start.families(_).rows)
      val written = touched.collect { case (family.spec.name, k) => k }.toSet
      val groups = rows.changedGroups(index).toSeq
      assert(groups.distinct == groups)
      assert(groups.toSet.subsetOf(written.map(groupOf)))
      val found = groups.flatMap(group => changesOf(index, group))
      assert(found.map(_._1).distinct.length == found.length, "two changes of one key")
      for ((k, value) <- found) {
        assert(value == family.rows.get(k), s"for key $k")
        assert(value.isDefined || before.contains(k), s"for key $k, which never was there")
      }
      val must = Keys.filter(k => family.rows.get(k) != before.get(k)).toSet
      assert(must.diff(found.map(_._1).toSet).isEmpty, "changes are missing")
      assert(found.map(_._1).toSet.diff(written).isEmpty, "changes of keys never written to")
    }

    private def changesOf(index: Int, group: Int): Seq[(Bytes, Option[Bytes])] = {
      val found = Seq.newBuilder[(Bytes, Option[Bytes])]
      val change = rows.changes(index, group)
      while (change.next()) {
        val k = Bytes.of(change.key)
        assert(change.hash == hashOf(k))
        assert(groupOf(k) == group)
        found += k -> (if (change.removed) None else Some(Bytes.of(change.value)))
      }
      found.result()
    }

    def openCursor(kind: Int, at: Int): Unit = if (state.families.nonEmpty && cursors.length < 3) {
      val index = at % state.families.length
      val family = state.families(index)
      val opened = kind % 3 match {
        case 0 => new OpenCursorModel(rows.scan(index), family, family.rows)
        case 1 =>
          val group = at % KeyGroups
          val inGroup = family.rows.filter { case (k, _) => groupOf(k) == group }
          new OpenCursorModel(rows.scanGroup(index, group), family, inGroup)
        case _ if family.spec.ordered =>
          val prefix = choose(Prefixes, at)
          val below = family.rows.filter { case (k, _) => k.startsWith(prefix) }
          new OpenCursorModel(rows.scanPrefix(index, prefix.slice), family, below)
        case _ => new OpenCursorModel(rows.scan(index), family, family.rows)
      }
      cursors += opened
    }

    def stepCursor(at: Int, count: Int): Unit = if (cursors.nonEmpty) {
      val i = at % cursors.length
      if (!cursors(i).step(count)) cursors.remove(i)
      ()
    }
  }

  /** A cursor of the transaction that writes go on beside: M5. */
  private final class OpenCursorModel(cursor: RowCursor, state: FamilyState, start: Rows) {
    private val seen = mutable.ArrayBuffer.empty[Bytes]

    /** @return whether there is more */
    def step(count: Int): Boolean = {
      var left = count
      while (left > 0 && cursor.next()) {
        val k = Bytes.of(cursor.key)
        assert(cursor.hash == hashOf(k))
        assert(start.get(k).contains(Bytes.of(cursor.value)), s"for key $k")
        assert(!seen.contains(k), s"key $k came twice")
        if (state.spec.ordered) assert(seen.lastOption.forall(Bytes.ordering.lteq(_, k)))
        seen += k
        left -= 1
      }
      if (left > 0) assert(seen.toSet == start.keySet, "rows missed")
      left == 0
    }
  }
}

private[map] object StateMapModel {
  sealed trait Operation
  final case class Begin(version: Int) extends Operation
  final case class Put(family: Int, key: Int, value: Int) extends Operation
  final case class Remove(family: Int, key: Int) extends Operation
  final case class Get(family: Int, key: Int) extends Operation
  case object Check extends Operation
  final case class OpenCursor(kind: Int, at: Int) extends Operation
  final case class StepCursor(at: Int, count: Int) extends Operation
  case object Commit extends Operation
  case object Abort extends Operation
  final case class PinVersion(version: Int) extends Operation
  final case class CheckPin(at: Int) extends Operation
  final case class Release(at: Int) extends Operation
  final case class Retain(newest: Int, count: Int) extends Operation

  type Rows = TreeMap[Bytes, Bytes]
  private val NoRows: Rows = TreeMap.empty

  final case class FamilyState(spec: FamilySpec, rows: Rows) {
    def counted: Family = {
      val bytes = rows.iterator.map { case (k, v) => k.length.toLong + v.length }.sum
      Family(spec, rows.size.toLong, rows.size.toLong, bytes)
    }
  }

  final case class State(families: Vector[FamilyState]) {
    def indexOf(spec: FamilySpec): Option[Int] =
      Some(families.indexWhere(_.spec == spec)).filter(_ >= 0)
  }

  val KeyGroups = 6

  val Specs: Seq[FamilySpec] = Seq(
    FamilySpec("default", false, false, ordered = false, "row", "unsaferow", "all", 0, 0),
    FamilySpec("ordered", true, false, ordered = true, "range:0", "unsaferow", "none", 1, 2)
  )

  private val Keys = Seq(
    "",
    "00",
    "0000",
    "01",
    "61",
    "6100",
    "6161",
    "6162",
    "7f",
    "80",
    "80ff",
    "ff",
    "ff00",
    "ffff",
    "ffffff",
    "61" * 40
  ).map(Bytes(_))

  private val Prefixes = Seq("", "00", "61", "6161", "80", "ff", "ffff", "62").map(Bytes(_))

  /** Few, so that keys share them. */
  private val Hashes = Seq(Int.MinValue, -7, -1, 0, 5, 11, Int.MaxValue)

  private val Lengths = Seq(0, 1, 7, 8, 40, 300)

  private def key(i: Int): Bytes = choose(Keys, i)

  private def hashOf(key: Bytes): Int =
    Hashes(Math.floorMod(key.hex.hashCode, Hashes.length))

  private def groupOf(key: Bytes): Int = Math.floorMod(hashOf(key), KeyGroups)

  private def valueOf(i: Int): Bytes = Bytes(f"${i & 0xff}%02x" * choose(Lengths, i))

  private def choose[A](from: Seq[A], i: Int): A = from(i % from.length)

  private implicit val rowOrdering: Ordering[(Bytes, Bytes)] =
    Ordering.Tuple2(Bytes.ordering, Bytes.ordering)

  private val operation: Gen[Operation] = {
    val any = Gen.choose(0, 255)
    Gen.frequency(
      10 -> Gen.zip(any, any, any).map { case (f, k, v) => Put(f, k, v) },
      6 -> Gen.zip(any, any).map { case (f, k) => Remove(f, k) },
      3 -> Gen.zip(any, any).map { case (f, k) => Get(f, k) },
      1 -> Gen.const(Check),
      2 -> Gen.zip(any, any).map { case (kind, at) => OpenCursor(kind, at) },
      3 -> Gen.zip(any, Gen.choose(1, 6)).map { case (at, n) => StepCursor(at, n) },
      2 -> Gen.const(Commit),
      1 -> Gen.const(Abort),
      5 -> any.map(Begin),
      1 -> any.map(PinVersion),
      1 -> any.map(CheckPin),
      1 -> any.map(Release),
      1 -> Gen.zip(any, Gen.choose(1, 3)).map { case (at, n) => Retain(at, n) }
    )
  }

  val sequences: Gen[List[Operation]] =
    Gen.choose(1, 80).flatMap(n => Gen.listOfN(n, operation))

  val fewer: Shrink[List[Operation]] = Shrink.shrinkContainer[List, Operation]
}
