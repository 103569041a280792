package io.keyfold.map

import scala.collection.immutable.TreeMap
import scala.collection.mutable

import io.keyfold.errors.{Invalid, StoreError}
import io.keyfold.mem.Slice
import io.keyfold.model.{Family, FamilySpec, VersionId}
import io.keyfold.testkit.Bytes
import org.scalatest.Assertions

/** Runs operations on a [[StateMap]] and on plain maps, and compares. Every sequence can be run: an
  * operation without the transaction or view it needs does nothing, and numbers are taken modulo
  * what there is to choose from.
  *
  * @param tellsAdded
  *   whether a row to which the transaction only appended must be told by the values added
  * @param isInMemory
  *   whether all rows are, so that it is known which key groups have some
  */
private[map] final class StateMapModel(
    map: StateMap,
    tellsAdded: Boolean,
    isInMemory: Boolean
) extends Assertions {
  import MapOperations._
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
    case Append(family, k, v) => open.foreach(_.append(family, key(k), valueOf(v)))
    case Remove(family, k)    => open.foreach(_.remove(family, key(k)))
    case RemoveRange(f, s, e) => open.foreach(_.removeRange(f, bound(s), bound(e)))
    case Drop(family)         => open.foreach(_.drop(family))
    case Get(family, k)       => open.foreach(_.get(family, key(k)))
    case Values(family, k)    => open.foreach(_.values(family, key(k)))
    case Check                => open.foreach(checkWhole)
    case OpenCursor(kind, at) => open.foreach(_.openCursor(kind, at))
    case StepCursor(at, n)    => open.foreach(_.stepCursor(at, n))
    case CloseCursor(at)      => open.foreach(_.closeCursor(at))
    case Commit               => open.foreach(commit)
    case Abort                => open.foreach(abort)
    case PinVersion(version)  => if (pins.length < 4) pin(choose(versions, version))
    case CheckPin(at)         => if (pins.nonEmpty) choose(pins.toSeq, at).check()
    case Release(at)          => if (pins.nonEmpty) release(at % pins.length)
    case Retain(kept)         => retain(kept)
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

  /** @param bits
    *   which of the versions are kept
    */
  private def retain(bits: Int): Unit = {
    val kept = versions.zipWithIndex.collect { case (v, i) if (bits >> (i % 31) & 1) == 1 => v }
    map.retain(kept.toSet)
    for (v <- versions) assert(map.holds(v) == (v == VersionId.Empty || kept.contains(v)), v)
    held.filterInPlace { case (v, _) => map.holds(v) }
    ()
  }

  private def checkWhole(txn: OpenTxn): Unit = {
    assertHolds(txn.rows, txn.state)
    txn.checkChanges()
  }

  private def assertHolds(view: MapView, state: State): Unit = {
    assert(view.families == state.families.map(_.counted))
    for ((family, index) <- state.families.zipWithIndex) {
      assert(view.familyIndex(family.spec.name) == index)
      for (k <- Keys) {
        val row = family.rows.get(k)
        assert(getFrom(view, index, k) == row.map(_.head), s"for key $k")
        assert(rowsOf(view.values(index, hashOf(k), k.slice)) == row.map(k -> _).toSeq)
      }
      val scanned = rowsOf(view.scan(index))
      if (family.spec.ordered) {
        assert(scanned == family.rows.toSeq)
        for (prefix <- Prefixes) {
          val expected = family.rows.toSeq.filter(_._1.startsWith(prefix))
          assert(rowsOf(view.scanPrefix(index, prefix.slice)) == expected, s"for prefix $prefix")
        }
        for ((start, end) <- Ranges) {
          val expected = inRange(family.rows, start, end).toSeq
          val found = rowsOf(view.scanRange(index, sliceOf(start), sliceOf(end)))
          assert(found == expected, s"from $start to $end")
        }
      } else {
        assert(scanned.sortBy(_._1) == family.rows.toSeq)
        intercept[Invalid](view.scanRange(index, null, null))
      }
      val byGroup = family.rows.toSeq.groupBy { case (k, _) => groupOf(k) }
      val groups = view.groups(index)
      assert(groups.distinct.length == groups.length)
      assert((byGroup.keySet -- groups).isEmpty && (!isInMemory || groups.forall(byGroup.contains)))
      for (group <- 0 until KeyGroups) {
        val expected = byGroup.getOrElse(group, Nil)
        assert(rowsOf(view.scanGroup(index, group)).sortBy(_._1) == expected, s"for group $group")
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

  private def rowsOf(cursor: RowCursor): Seq[(Bytes, Vector[Bytes])] = {
    val rows = Seq.newBuilder[(Bytes, Vector[Bytes])]
    while (cursor.next()) {
      val k = Bytes.of(cursor.key)
      assert(cursor.hash == hashOf(k))
      rows += k -> CursorModel.valuesOf(cursor)
      assert(Bytes.of(cursor.key) == k)
    }
    assert(!cursor.nextValue())
    rows.result()
  }

  /** A row's values where they are. */
  private def borrowRow(view: MapView, family: Int, key: Bytes): Seq[(Slice, Bytes)] = {
    val cursor = view.values(family, hashOf(key), key.slice)
    val found = Seq.newBuilder[(Slice, Bytes)]
    if (cursor.next()) {
      found += CursorModel.borrow(cursor)
      while (cursor.nextValue()) found += CursorModel.borrow(cursor)
    }
    assert(!cursor.next())
    found.result()
  }

  /** A view with bytes borrowed from it, which must stay until it is released. */
  private final class Pin(val view: MapView, state: State) {
    private var borrowed = Seq.empty[(Slice, Bytes)]

    def borrow(): Unit = borrowed = for {
      (family, index) <- state.families.zipWithIndex
      (k, expected) <- family.rows.toSeq
      value <- {
        val found = borrowRow(view, index, k)
        assert(found.map(_._2) == expected)
        found
      }
    } yield value

    def check(): Unit = {
      assertHolds(view, state)
      for ((slice, expected) <- borrowed) assert(Bytes.of(slice) == expected)
    }
  }

  private final class OpenTxn(val rows: MapTxn, val base: VersionId, start: State) {
    private val borrowed = mutable.ArrayBuffer.empty[(Slice, Bytes)]
    private val cursors = mutable.ArrayBuffer.empty[CursorModel]

    private val dropped = mutable.Set.empty[FamilySpec]

    /** Keys written to, by family name; and those whose rows were begun anew. */
    private val touched = mutable.Set.empty[(String, Bytes)]
    private val cut = mutable.Set.empty[(String, Bytes)]
    var state: State = start

    def put(family: Int, key: Bytes, value: Bytes): Unit = {
      val index = create(family)
      val (keyArray, valueArray) = (key.array, value.array)
      rows.put(index, hashOf(key), new Slice().set(keyArray), new Slice().set(valueArray))
      java.util.Arrays.fill(keyArray, 0x55.toByte)
      java.util.Arrays.fill(valueArray, 0x55.toByte)
      change(index, key, _.updated(key, Vector(value)))
      cut += ((state.families(index).spec.name, key))
      ()
    }

    def append(family: Int, key: Bytes, value: Bytes): Unit = {
      val index = create(family)
      val (keyArray, valueArray) = (key.array, value.array)
      def run() =
        rows.append(index, hashOf(key), new Slice().set(keyArray), new Slice().set(valueArray))
      if (state.families(index).spec.multiValue) {
        run()
        java.util.Arrays.fill(keyArray, 0x55.toByte)
        java.util.Arrays.fill(valueArray, 0x55.toByte)
        change(index, key, rows => rows.updated(key, rows.getOrElse(key, Vector()) :+ value))
      } else {
        intercept[Invalid](run())
        ()
      }
    }

    def remove(family: Int, key: Bytes): Unit = {
      val index = create(family)
      val found = rows.remove(index, hashOf(key), key.slice)
      assert(found == state.families(index).rows.contains(key))
      change(index, key, _.removed(key))
      begin(state.families(index).spec, key)
    }

    def removeRange(family: Int, start: Option[Bytes], end: Option[Bytes]): Unit = {
      val index = create(family)
      def run() = rows.removeRange(index, sliceOf(start), sliceOf(end))
      val FamilyState(spec, before) = state.families(index)
      if (spec.ordered) {
        val gone = inRange(before, start, end).keys
        assert(run() == gone.size)
        for (k <- gone) {
          change(index, k, _.removed(k))
          begin(spec, k)
        }
      } else {
        intercept[Invalid](run())
        ()
      }
    }

    /** Index of one of the families, which is made by the first write to it. */
    private def create(family: Int): Int = {
      val spec = choose(Specs, family)
      state.indexOf(spec).getOrElse {
        val index = rows.createFamily(spec)
        assert(index == state.families.length)
        state = State(state.families :+ FamilyState(spec, TreeMap.empty))
        index
      }
    }

    def drop(family: Int): Unit = {
      val spec = choose(Specs, family)
      for (index <- state.indexOf(spec)) {
        rows.dropFamily(index)
        state = State(state.families.patch(index, Nil, 1))
        if (start.indexOf(spec).isDefined) dropped += spec
        touched.filterInPlace(_._1 != spec.name)
        cut.filterInPlace(_._1 != spec.name)
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
        val expected = state.families(index).rows.get(key).map(_.head)
        assert(found == expected.isDefined)
        for (bytes <- expected) {
          assert(Bytes.of(value) == bytes)
          borrowed += value -> bytes
        }
      }

    def values(family: Int, key: Bytes): Unit =
      for (index <- state.indexOf(choose(Specs, family))) {
        val found = borrowRow(rows, index, key)
        assert(found.map(_._2) == state.families(index).rows.getOrElse(key, Nil))
        borrowed ++= found
      }

    def checkBorrowed(): Unit =
      for ((slice, expected) <- borrowed) assert(Bytes.of(slice) == expected)

    def checkChanges(): Unit = {
      assert(rows.dropped.toSet == dropped.map(_.name))
      for ((family, index) <- state.families.zipWithIndex) checkChanges(family, index)
    }

    private def baseRows(spec: FamilySpec) =
      start.indexOf(spec).filter(_ => !dropped(spec)).fold(NoRows)(start.families(_).rows)

    /** What comes after a removal is another row, if the base has one that it could be taken for.
      */
    private def begin(spec: FamilySpec, key: Bytes): Unit =
      if (baseRows(spec).contains(key)) cut += ((spec.name, key)) else cut -= ((spec.name, key))

    private def checkChanges(family: FamilyState, index: Int): Any = {
      val before = baseRows(family.spec)
      val written = touched.collect { case (family.spec.name, k) => k }.toSet
      val groups = rows.changedGroups(index).toSeq
      assert(groups.distinct == groups)
      assert(groups.toSet.subsetOf(written.map(groupOf)))
      val found = groups.flatMap(group => changesOf(index, group))
      assert(found.map(_._1).distinct.length == found.length, "two changes of one key")
      for ((k, change) <- found) {
        val expected = family.rows.get(k) match {
          case None                                      => Gone
          case Some(after) if cut((family.spec.name, k)) => Whole(after)
          case Some(after) => Added(after.drop(before.get(k).fold(0)(_.length)))
        }
        val whole = family.rows.get(k).map(Whole(_))
        assert(change == expected || !tellsAdded && whole.contains(change), s"for key $k")
        assert(change != Gone || before.contains(k), s"for key $k, which never was there")
      }
      val must = Keys.filter(k => family.rows.get(k) != before.get(k)).toSet
      assert(must.diff(found.map(_._1).toSet).isEmpty, "changes are missing")
      assert(found.map(_._1).toSet.diff(written).isEmpty, "changes of keys never written to")
    }

    private def changesOf(index: Int, group: Int): Seq[(Bytes, Change)] = {
      val found = Seq.newBuilder[(Bytes, Change)]
      val change = rows.changes(index, group)
      while (change.next()) {
        val k = Bytes.of(change.key)
        assert(change.hash == hashOf(k))
        assert(groupOf(k) == group)
        found += k -> {
          if (change.removed) {
            assert(!change.appended && !change.nextValue())
            Gone
          } else if (change.appended) Added(CursorModel.valuesOf(change))
          else Whole(CursorModel.valuesOf(change))
        }
      }
      found.result()
    }

    def openCursor(kind: Int, at: Int): Unit = if (state.families.nonEmpty && cursors.length < 3) {
      val index = at % state.families.length
      val family = state.families(index)
      val chosen = kind / 5
      def opened(cursor: RowCursor, rows: Rows) =
        new CursorModel(cursor, family.spec.ordered, rows, borrowed)
      cursors += (kind % 5 match {
        case 1 =>
          val group = chosen % KeyGroups
          val inGroup = family.rows.filter { case (k, _) => groupOf(k) == group }
          opened(rows.scanGroup(index, group), inGroup)
        case 2 =>
          val k = key(chosen)
          opened(rows.values(index, hashOf(k), k.slice), family.rows.filter(_._1 == k))
        case 3 if family.spec.ordered =>
          val prefix = choose(Prefixes, chosen)
          val below = family.rows.filter { case (k, _) => k.startsWith(prefix) }
          opened(rows.scanPrefix(index, prefix.slice), below)
        case 4 if family.spec.ordered =>
          val (start, end) = choose(Ranges, chosen)
          val cursor = rows.scanRange(index, sliceOf(start), sliceOf(end))
          opened(cursor, inRange(family.rows, start, end))
        case _ => opened(rows.scan(index), family.rows)
      })
      ()
    }

    def stepCursor(at: Int, count: Int): Unit = if (cursors.nonEmpty) {
      val i = at % cursors.length
      if (!cursors(i).step(count)) cursors.remove(i)
      ()
    }

    def closeCursor(at: Int): Unit =
      if (cursors.nonEmpty) cursors.remove(at % cursors.length).close()
  }
}

private[map] object StateMapModel {
  sealed trait Change
  final case class Whole(values: Vector[Bytes]) extends Change
  final case class Added(values: Vector[Bytes]) extends Change
  case object Gone extends Change

  type Rows = TreeMap[Bytes, Vector[Bytes]]
  private val NoRows: Rows = TreeMap.empty

  final case class FamilyState(spec: FamilySpec, rows: Rows) {
    def counted: Family = {
      val bytes = rows.iterator.map { case (k, vs) => k.length + vs.map(_.length.toLong).sum }.sum
      Family(spec, rows.size.toLong, rows.values.map(_.length.toLong).sum, bytes)
    }
  }

  final case class State(families: Vector[FamilyState]) {
    def indexOf(spec: FamilySpec): Option[Int] =
      Some(families.indexWhere(_.spec == spec)).filter(_ >= 0)
  }

  val KeyGroups = 6

  val Specs: Seq[FamilySpec] = Seq(
    FamilySpec("default", false, false, ordered = false, "row", "unsaferow", "all", 0, 0),
    FamilySpec("ordered", true, false, ordered = true, "range:0", "unsaferow", "none", 1, 2),
    FamilySpec("lists", false, true, ordered = false, "row", "unsaferow", "all", 0, 0),
    FamilySpec("ordered lists", false, true, ordered = true, "range:0", "unsaferow", "all", 0, 0)
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

  private val Bounds: Seq[Option[Bytes]] =
    Seq(None) ++ Seq("", "0000", "61", "6161", "616100", "8000", "ff", "ffffff00")
      .map(hex => Some(Bytes(hex)))

  /** From the first bound to the second; some the wrong way round, some empty. */
  private val Ranges =
    Seq(0 -> 0, 0 -> 3, 0 -> 1, 2 -> 0, 2 -> 5, 3 -> 4, 4 -> 4, 6 -> 2, 5 -> 7, 8 -> 0)
      .map { case (start, end) => (Bounds(start), Bounds(end)) }

  /** Few, so that keys share them. */
  private val Hashes = Seq(Int.MinValue, -7, -1, 0, 5, 11, Int.MaxValue)

  private val Lengths = Seq(0, 1, 7, 8, 40, 300)

  private def key(i: Int): Bytes = choose(Keys, i)

  def hashOf(key: Bytes): Int =
    Hashes(Math.floorMod(key.hex.hashCode, Hashes.length))

  private def groupOf(key: Bytes): Int = Math.floorMod(hashOf(key), KeyGroups)

  private def bound(i: Int): Option[Bytes] = choose(Bounds, i)

  private def sliceOf(bound: Option[Bytes]): Slice = bound.fold[Slice](null)(_.slice)

  private def inRange(rows: Rows, start: Option[Bytes], end: Option[Bytes]): Rows =
    rows.filter { case (k, _) =>
      start.forall(Bytes.ordering.lteq(_, k)) && end.forall(Bytes.ordering.lt(k, _))
    }

  private def valueOf(i: Int): Bytes = Bytes(f"${i & 0xff}%02x" * choose(Lengths, i))

  private def choose[A](from: Seq[A], i: Int): A = from(i % from.length)
}
