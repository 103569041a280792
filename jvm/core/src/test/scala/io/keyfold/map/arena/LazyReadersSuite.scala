package io.keyfold.map.arena

import java.nio.file.Files
import java.util.concurrent.CyclicBarrier

import scala.util.Random

import io.keyfold.errors.{CorruptFile, OutOfOrder}
import io.keyfold.map.{LazyRows, MapTxn, MapView, RowCursor, RowSink}
import io.keyfold.mem.Slice
import io.keyfold.mem.page.{PagePool, SpillFiles}
import io.keyfold.model.{FamilySpec, VersionId}
import io.keyfold.testkit.Running
import org.scalatest.funsuite.AnyFunSuite

/** Late rows that are asked for by views beside a transaction, and rows that cannot be put. */
class LazyReadersSuite extends AnyFunSuite {
  import LazyReadersSuite._

  for (how <- reads) {
    test(s"a view reads ${how.name} beside another thread's transaction, and after it") {
      val loaded = new Loaded
      val before = loaded.map.pin(V1)
      val txn = loaded.map.begin(V1)
      for (i <- 0 until Keys by 8) put(txn, i, "changed")
      for (i <- 3 until Keys by 8) remove(txn, i)
      assert(loaded.rows.puts < Groups)
      val others = new Running({
        val view = loaded.map.pin(V1)
        assert(how.read(view) == first)
        view
      }).result()
      new Running(assert(how.read(before) == first)).result()
      assert(how.read(txn) == changed)
      txn.commit(V2)
      txn.release()
      new Running(assert(how.read(before) == first)).result()
      assert(how.read(others) == first)
      val after = loaded.map.pin(V2)
      assert(how.read(after) == changed)
      Seq(before, others, after).foreach(_.release())
      loaded.checkEmpty()
    }

    test(s"a view that was made before a transaction of its thread reads ${how.name}") {
      val loaded = new Loaded
      val view = loaded.map.pin(V1)
      val txn = loaded.map.begin(V1)
      put(txn, 1, "changed")
      assert(how.read(view) == first)
      assert(how.read(txn) == first.updated(1, "changed"))
      txn.release()
      assert(how.read(view) == first)
      view.release()
      loaded.checkEmpty()
    }
  }

  test("a look-up puts the rows of one key group, and a view the first rows of a scan") {
    val loaded = new Loaded
    val view = loaded.map.pin(V1)
    assert(view.families.map(_.keys) == Seq(Keys.toLong) && loaded.rows.puts == 0)
    assert(get(view, 5).contains("first"))
    assert(get(view, 5 + Groups).contains("first") && loaded.rows.puts == 1)
    val cursor = view.scan(0)
    assert(cursor.next() && loaded.rows.puts == 1)
    while (cursor.next()) ()
    assert(loaded.rows.puts == Groups && loaded.rows.isClosed)
    view.release()
    loaded.checkEmpty()
  }

  test("a reader that is interrupted puts nothing into the map, whose end a failure would be") {
    val loaded = new Loaded
    val view = loaded.map.pin(V1)
    Thread.currentThread.interrupt()
    val found = get(view, 5)
    assert(Thread.interrupted() && found.contains("first") && loaded.map.loadedGroups == 0)
    assert(get(view, 6).contains("first") && loaded.map.loadedGroups == 1)
    view.release()
    loaded.checkEmpty()
  }

  test("a view whose families have other indices than when they were loaded, lists among them") {
    val map = newMap()
    val other = newMap()
    val all = other.begin(VersionId.Empty)
    Seq(spec.copy(name = "gone"), spec, lists).foreach(all.createFamily)
    for (i <- 0 until Keys; family <- 0 to 2) {
      all.put(family, i, slice(s"$i"), slice(s"of $family"))
      if (family == 2) for (j <- 1 to 3) all.append(family, i, slice(s"$i"), slice(s"$j"))
    }
    val loading = map.begin(VersionId.Empty)
    all.families.foreach(family => loading.createFamily(family.spec))
    loading.putLater(new RowsOfView(all, Groups), all.families)
    loading.commit(V1)
    loading.release()
    val second = map.begin(V1)
    second.dropFamily(0)
    second.append(1, 5, slice("5"), slice("more"))
    second.commit(V2)
    second.release()
    val third = map.begin(V2)
    new Running({
      val view = map.pin(V2)
      assert((0 until Keys).forall(get(view, _).contains("of 1")))
      for (i <- 0 until Keys) {
        val values = Seq("of 2", "1", "2", "3") ++ (if (i == 5) Seq("more") else Nil)
        assert(valuesOf(view.values(1, i, slice(s"$i"))) == values)
      }
      view.release()
    }).result()
    third.release()
    Seq(all).foreach(_.release())
    map.retain(_ => false)
    assert(map.liveObjects == 0)
    map.close()
  }

  test("readers and a writer ask for the same rows at once") {
    for (seed <- 1 to 60) {
      val loaded = new Loaded
      val start = new CyclicBarrier(4)
      val readers = for (reader <- 1 to 3) yield new Running({
        val random = new Random(seed * 10L + reader)
        val early = if (reader == 1) loaded.map.pin(V1) else null
        start.await()
        val view = if (early == null) loaded.map.pin(V1) else early
        for (_ <- 1 to 300) {
          val i = random.nextInt(Keys)
          assert(get(view, i).contains("first"), i)
        }
        assert(reads(random.nextInt(reads.size)).read(view) == first)
        view.release()
      })
      val random = new Random(seed.toLong)
      start.await()
      val txn = loaded.map.begin(V1)
      var rows = first
      for (_ <- 1 to 300) {
        val i = random.nextInt(Keys)
        if (random.nextBoolean()) {
          assert(remove(txn, i) == rows.contains(i))
          rows -= i
        } else {
          put(txn, i, s"$i changed")
          rows = rows.updated(i, s"$i changed")
        }
      }
      txn.commit(V2)
      txn.release()
      readers.foreach(_.result())
      val view = loaded.map.pin(V2)
      assert(reads(seed % reads.size).read(view) == rows)
      view.release()
      loaded.checkEmpty()
    }
  }

  test("a view goes on when its map is closed, and the files are closed behind it") {
    val loaded = new Loaded
    val view = loaded.map.pin(V1)
    loaded.map.close()
    assert(reads.forall(_.read(view) == first))
    view.release()
    assert(loaded.rows.isClosed && loaded.map.memory.total == 0)
  }

  test("files are closed with a map of which rows were not asked for") {
    val loaded = new Loaded
    val view = loaded.map.pin(V1)
    assert(get(view, 1).nonEmpty)
    view.release()
    loaded.map.close()
    assert(loaded.rows.isClosed)
  }

  test("files are closed when no version has the family of which rows were not asked for") {
    val loaded = new Loaded
    val txn = loaded.map.begin(V1)
    txn.dropFamily(0)
    txn.commit(V2)
    txn.release()
    assert(!loaded.rows.isClosed)
    loaded.map.retain(_ == V2)
    assert(loaded.rows.isClosed)
    loaded.checkEmpty()
  }

  test("files are closed when all rows are in sorted runs, before these are gone") {
    val loaded = new Loaded(on = Evicting.mapOf(Groups, 1L << 40))
    val view = loaded.map.pin(V1)
    var finds = 0
    while (!loaded.rows.isClosed && finds < 10 * Keys) {
      assert(get(view, finds % Keys).contains("first"))
      finds += 1
    }
    assert(loaded.rows.isClosed)
    assert(reads.forall(_.read(view) == first))
    view.release()
    loaded.checkEmpty()
  }

  test("a family that is dropped before its rows are asked for needs no memory any more") {
    val pool = new PagePool(1L << 30, None)
    val map = new ArenaMap(Groups, pool)
    val other = new ArenaMap(Groups, new PagePool(1L << 30, None))
    val all = other.begin(VersionId.Empty)
    for (name <- Seq("large", "small")) {
      put(all, 1, "first", all.createFamily(spec.copy(name = name)))
    }
    val sizes = all.families.toVector
    val loading = map.begin(VersionId.Empty)
    all.families.foreach(family => loading.createFamily(family.spec))
    loading.putLater(new RowsOfView(all, Groups), sizes.updated(0, sizes(0).copy(bytes = 4L << 30)))
    loading.commit(V1)
    loading.release()
    assert(!pool.hasRoomForHalf)
    val txn = map.begin(V1)
    txn.dropFamily(0)
    txn.commit(V2)
    txn.release()
    map.retain(_ == V2)
    assert(pool.hasRoomForHalf)
    val view = map.pin(V2)
    assert(get(view, 1).contains("first"))
    view.release()
    all.release()
    map.close()
  }

  test("a transaction that asks for rows that cannot be put ends, and its map holds no version") {
    for (ask <- Seq[MapTxn => Any](get(_, 8), put(_, 8, "new"), remove(_, 8), _.scan(0))) {
      val loaded = new Loaded(bad = Some(8))
      val txn = loaded.map.begin(V1)
      put(txn, 1, "changed")
      intercept[CorruptFile](ask(txn))
      intercept[OutOfOrder](txn.commit(V2))
      assert(!loaded.map.holds(V1) && !loaded.map.holds(V2))
      txn.release()
      assert(loaded.rows.isClosed && loaded.map.memory.total == 0)
    }
  }

  test("so it is if a view of its thread asks; and another view reads what is in memory") {
    val loaded = new Loaded(bad = Some(8))
    val other = loaded.map.pin(V1)
    val view = loaded.map.pin(V1)
    assert(get(view, 1).nonEmpty)
    val txn = loaded.map.begin(V1)
    intercept[CorruptFile](get(view, 8))
    intercept[OutOfOrder](put(txn, 1, "changed"))
    assert(!loaded.map.holds(V1))
    txn.release()
    assert((0 until 8).forall(get(other, _).contains("first")))
    intercept[CorruptFile](get(other, 8))
    Seq(view, other).foreach(_.release())
    assert(loaded.map.memory.total == 0)
  }

  test("without a transaction a view that asks for them fails, and the map holds no version") {
    val loaded = new Loaded(bad = Some(8))
    val view = loaded.map.pin(V1)
    intercept[CorruptFile](get(view, 8))
    assert(!loaded.map.holds(V1))
    view.release()
    assert(loaded.map.memory.total == 0)
  }

  for (threads <- Seq("one thread", "two threads")) {
    test(s"a view beside a transaction of $threads fails alone if it cannot read rows") {
      val loaded = new Loaded(bad = Some(8))
      val txn = loaded.map.begin(V1)
      put(txn, 1, "changed")
      if (threads == "two threads") {
        new Running(assert(get(txn, 1).contains("changed"))).result()
      }
      new Running({
        val view = loaded.map.pin(V1)
        intercept[CorruptFile](get(view, 8))
        view.release()
      }).result()
      assert(get(txn, 2).contains("first"))
      txn.commit(V2)
      txn.release()
      // The next loads anew.
      assert(!loaded.map.holds(V1) && !loaded.map.holds(V2))
      loaded.map.close()
    }
  }

  test("a view reads all though a transaction was aborted in the middle of a change, perhaps") {
    val loaded = new Loaded
    val view = loaded.map.pin(V1)
    val txn = loaded.map.begin(V1)
    put(txn, 1, "changed")
    new Running(txn.abort()).result()
    assert(!loaded.map.holds(V1))
    assert(reads.forall(_.read(view) == first))
    view.release()
    txn.release()
  }
}

private object LazyReadersSuite {
  val V1: VersionId = VersionId(1)
  val V2: VersionId = VersionId(2)
  val Groups = 48
  val Keys = 480
  private val spec = FamilySpec("default", false, false, false, "row", "unsaferow", "all", 0, 0)
  private val lists = spec.copy(name = "lists", multiValue = true)

  private def newMap() = new ArenaMap(
    Groups,
    new PagePool(1L << 30, Some(new SpillFiles(Files.createTempDirectory("keyfold-lazy"))))
  )

  /** Rows by key. */
  val first: Map[Int, String] = (0 until Keys).map(_ -> "first").toMap
  val changed: Map[Int, String] = first.collect {
    case (i, _) if i % 8 == 0     => i -> "changed"
    case (i, value) if i % 8 != 3 => i -> value
  }

  private def slice(text: String) = new Slice().set(text.getBytes)
  private def text(slice: Slice) = new String(slice.toArray)

  def put(txn: MapTxn, i: Int, value: String, family: Int = 0): Unit =
    txn.put(family, i, slice(s"$i"), slice(value))
  def remove(txn: MapTxn, i: Int): Boolean = txn.remove(0, i, slice(s"$i"))

  def get(view: MapView, i: Int): Option[String] = {
    val value = new Slice
    Option.when(view.get(0, i, slice(s"$i"), value))(text(value))
  }

  private def valuesOf(cursor: RowCursor): Seq[String] = {
    assert(cursor.next())
    text(cursor.value) +:
      Iterator
        .continually(cursor.nextValue())
        .takeWhile(identity)
        .map(_ => text(cursor.value))
        .toSeq
  }

  private def rows(cursor: RowCursor): Seq[(Int, String)] = {
    val found = Seq.newBuilder[(Int, String)]
    while (cursor.next()) found += text(cursor.key).toInt -> text(cursor.value)
    found.result()
  }

  final class Read(val name: String)(all: MapView => Seq[(Int, String)]) {
    def read(view: MapView): Map[Int, String] = {
      val found = all(view)
      assert(found.map(_._1).distinct.size == found.size, "a key is there twice")
      found.toMap
    }
  }

  val reads: Seq[Read] = Seq(
    new Read("by key")(view => (0 until Keys).flatMap(i => get(view, i).map(i -> _))),
    new Read("values")(view => (0 until Keys).flatMap(i => rows(view.values(0, i, slice(s"$i"))))),
    new Read("all")(view => rows(view.scan(0))),
    new Read("by group")(view =>
      view.groups(0).toSeq.flatMap(group => rows(view.scanGroup(0, group)))
    )
  )

  /** A map whose version 1 has late rows.
    *
    * @param bad
    *   the key group that cannot be put
    */
  final class Loaded(bad: Option[Int] = None, on: ArenaMap = newMap()) {
    val map: ArenaMap = on
    val rows: RowsOfView = {
      val other = new ArenaMap(Groups, new PagePool(1L << 30, None))
      val txn = other.begin(VersionId.Empty)
      txn.createFamily(spec)
      for ((i, value) <- first) put(txn, i, value)
      val found = new RowsOfView(txn, Groups)
      val loading = map.begin(VersionId.Empty)
      loading.createFamily(spec)
      val late = bad.fold[LazyRows](found)(new Bad(found, _))
      loading.putLater(late, txn.families)
      loading.commit(V1)
      loading.release()
      txn.release()
      found
    }

    def checkEmpty(): Unit = {
      map.retain(_ => false)
      assert(map.liveObjects == 0)
      map.close()
      assert(rows.isClosed)
    }
  }

  private final class Bad(rows: RowsOfView, group: Int) extends LazyRows {
    @volatile private var broken = false
    override def isBroken: Boolean = broken
    private def check(group: Int): Unit = if (group >= this.group) {
      broken = true
      throw new CorruptFile("a file", "it is bad")
    }
    override def groups(family: Int): Seq[Array[Int]] = rows.groups(family)
    override def size(family: Int, group: Int): (Long, Long) = rows.size(family, group)
    override def find(family: Int, group: Int, hash: Int, key: Slice, value: Slice): Boolean = {
      check(group)
      rows.find(family, group, hash, key, value)
    }
    override def put(family: Int, group: Int, into: RowSink): Unit = {
      rows.put(family, group, into)
      check(group)
    }
    override def close(): Unit = rows.close()
  }
}
