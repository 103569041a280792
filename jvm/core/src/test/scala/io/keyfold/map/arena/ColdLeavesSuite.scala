package io.keyfold.map.arena

import io.keyfold.errors.{LocalFileFailed, OutOfMemory, OutOfOrder}
import io.keyfold.map.{MapTxn, StateMapTexts}
import io.keyfold.mem.page.{FullDisk, SpillFiles, WatchedDisk}
import io.keyfold.model.{FamilySpec, VersionId}
import org.scalatest.funsuite.AnyFunSuite

/** Leaves of ordered families whose rows are in files. */
class ColdLeavesSuite extends AnyFunSuite with StateMapTexts {

  private def key(i: Int) = f"key$i%06d"
  private def rowsFrom(range: Range, value: String): Map[String, String] =
    range.map(i => key(i) -> s"$value of ${key(i)}").toMap

  /** A map with version 1: one family with rows in the order of keys, so that leaves are full. */
  private final class Fixture(
      val disk: SpillFiles = new WatchedDisk,
      spec: FamilySpec = ordered,
      count: Int = 1000
  ) {
    var wanted = 0L
    val map: ArenaMap = Evicting.mapOn(disk, keyGroups, wanted)
    val firstRows: Map[String, String] = rowsFrom(1 to count, "first")

    locally {
      val txn = map.begin(VersionId.Empty)
      txn.createFamily(spec)
      for ((k, v) <- firstRows.toSeq.sorted) put(txn, k, v)
      txn.commit(v1)
      txn.release()
    }

    /** Moves what all versions share to files. */
    def settle(wanted: Long = 1L << 40): Unit = {
      this.wanted = wanted
      map.pin(v1).release()
      this.wanted = 0
    }

    def write(base: VersionId, version: VersionId)(body: MapTxn => Any): Unit = {
      val txn = map.begin(base)
      body(txn)
      txn.commit(version)
      txn.release()
    }

    def read(version: VersionId): Map[String, String] = viewing(map, version)(allRows(_))

    /** Bytes of objects in memory. */
    def live: Long = map.memory.offHeap - map.memory.free

    def end(): Unit = {
      map.retain(_ => false)
      assert(map.liveObjects == 0 && map.coldFiles.runs == 0)
      map.close()
    }
  }

  for (spec <- Seq(ordered, orderedLists))
    test(s"of ${spec.name} some bytes a row stay in memory") {
      val fixture = new Fixture(spec = spec, count = 10000)
      import fixture._
      assert(live > 10000L * 50)
      settle()
      assert(live < 10000L * 2)
      assert(read(v1) == firstRows)
      assert(live < 10000L * 2)
      end()
    }

  test("a transaction that is aborted leaves the rows in the file where they are") {
    val fixture = new Fixture
    import fixture._
    settle()
    val (objects, bytes) = (map.liveObjects, map.memory.mapped)
    val txn = map.begin(v1)
    for (i <- 1 to 1000 by 50) put(txn, key(i), "second")
    assert(remove(txn, key(7)) && !remove(txn, "key000007b"))
    assert(txn.removeRange(0, slice(key(500)), slice(key(900))) == 400)
    txn.abort()
    txn.release()
    assert(map.liveObjects == objects && map.memory.mapped == bytes)
    assert(read(v1) == firstRows)
    end()
  }

  test("a remove of a key that is not there leaves the rows in the file") {
    val fixture = new Fixture
    import fixture._
    settle()
    val objects = map.liveObjects
    write(v1, v2)(txn => assert(!remove(txn, "key000007b")))
    assert(map.liveObjects == objects)
    end()
  }

  test("attempts side by side keep their rows while those that they share leave memory") {
    val fixture = new Fixture
    import fixture._
    val (a, b) = (VersionId(2, "a"), VersionId(2, "b"))
    val (inA, inB) = (rowsFrom(100 to 300 by 100, "a"), rowsFrom(300 to 900 by 100, "b"))
    write(v1, a)(txn => for ((k, v) <- inA) put(txn, k, v))
    write(v1, b)(txn => for ((k, v) <- inB) put(txn, k, v))
    settle()
    assert(map.coldFiles.runs == 16 - 3 - 6)
    def check() = assert(read(a) == firstRows ++ inA && read(b) == firstRows ++ inB)
    assert(read(v1) == firstRows)
    check()
    // The base is gone, but has two attempts built on it.
    map.retain(_.version == 2)
    settleOn(a)
    check()
    map.retain(_ == a)
    settleOn(a)
    assert(map.coldFiles.runs == 16)
    assert(read(a) == firstRows ++ inA)
    end()

    def settleOn(version: VersionId) = {
      wanted = 1L << 40
      map.pin(version).release()
      wanted = 0
    }
  }

  test("a family that a later version has dropped stays as it is in the older one") {
    val fixture = new Fixture
    import fixture._
    settle()
    write(v1, v2)(put(_, key(1), "second"))
    write(v2, v3)(_.dropFamily(0))
    settle()
    assert(read(v1) == firstRows && read(v2) == firstRows + (key(1) -> "second"))
    viewing(map, v3)(view => assert(view.families.isEmpty))
    map.retain(_ == v3)
    assert(map.liveObjects == 0 && map.coldFiles.runs == 0)
    end()
  }

  test("rows that were written last stay, if others are enough") {
    val fixture = new Fixture
    import fixture._
    val latest = rowsFrom(2000 to 2063, "second")
    write(v1, v2)(txn => for ((k, v) <- latest.toSeq.sorted) put(txn, k, v))
    map.retain(_ == v2)
    wanted = 1
    map.pin(v2).release()
    wanted = 0
    assert(map.coldFiles.runs == 15)
    disk.asInstanceOf[WatchedDisk].close()
    viewing(map, v2) { view =>
      for ((k, v) <- latest) assert(valueOf(view, k).contains(v))
      intercept[LocalFileFailed](valueOf(view, key(1)))
    }
    map.close()
  }

  test("a scan of a range reads each block once, and none behind its end") {
    val fixture = new Fixture
    import fixture._
    settle()
    val view = map.pin(v1)
    val cursor = view.scanRange(0, slice(key(70)), slice(key(80)))
    disk.asInstanceOf[WatchedDisk].close()
    assert(rows(cursor).map(_._1) == (70 to 79).map(key))
    view.release()
    map.close()
  }

  test("look-ups and writes in one leaf read its block once each") {
    val fixture = new Fixture
    import fixture._
    settle()
    val txn = map.begin(v1)
    assert(valueOf(txn, key(1)) == firstRows.get(key(1)) && !remove(txn, "key000001b"))
    disk.asInstanceOf[WatchedDisk].close()
    assert(valueOf(txn, key(2)) == firstRows.get(key(2)))
    assert(remove(txn, key(3)) && valueOf(txn, key(3)).isEmpty)
    intercept[LocalFileFailed](valueOf(txn, key(100)))
    txn.release()
    map.close()
  }

  test("a commit reads no leaf that the transaction has not written to") {
    val fixture = new Fixture
    import fixture._
    settle()
    val txn = map.begin(v1)
    // All of a leaf.
    for (i <- 1 to 64) assert(remove(txn, key(i)))
    disk.asInstanceOf[WatchedDisk].close()
    assert(changes(txn) == (1 to 64).map(i => key(i) -> None).toMap)
    txn.release()
    map.close()
  }

  test("a leaf with a very long row stays in memory") {
    val fixture = new Fixture(count = 64)
    import fixture._
    write(v1, v2)(put(_, key(1), "x" * 5000000))
    map.retain(_ == v2)
    wanted = 1L << 40
    map.pin(v2).release()
    assert(map.coldFiles.runs == 0)
    viewing(map, v2)(view => assert(valueOf(view, key(1)).get.length == 5000000))
    end()
  }

  test("a closed map stays readable to who has pinned it, with rows in files") {
    val fixture = new Fixture
    import fixture._
    settle()
    val view = map.pin(v1)
    map.close()
    assert(allRows(view) == firstRows)
    view.release()
    assert(map.liveObjects == 0 && map.memory.total == 0)
  }

  for ((what, damage) <- WatchedDisk.damages) {
    test(s"leaves that cannot be read end the task, and are to be loaded again: $what (fault 21)") {
      val uses = Seq[(String, MapTxn => Any)](
        "a look-up" -> (valueOf(_, key(500))),
        "the values of a key" -> (valuesOf(_, key(500), 0)),
        "a scan" -> (txn => rows(txn.scan(0))),
        "a scan of a group" -> (txn => txn.groups(0)),
        "a put" -> (put(_, key(500), "second")),
        "a remove" -> (remove(_, key(500))),
        "a range" -> (_.removeRange(0, slice(key(400)), slice(key(600))))
      )
      for ((use, run) <- uses) {
        val fixture = new Fixture
        import fixture._
        settle()
        damage(disk.asInstanceOf[WatchedDisk])
        val txn = map.begin(v1)
        val error = intercept[LocalFileFailed](run(txn))
        assert(error.getMessage.contains("the task's retry loads the state again"), use)
        txn.release()
        assert(!map.holds(v1) && !map.holds(VersionId.Empty), use)
        intercept[OutOfOrder] {
          map.close()
          map.begin(v1)
        }
        assert(map.memory.total == 0, use)
      }
    }
  }

  test("a thread that is interrupted reads cold leaves on, and writes to them (fault 21)") {
    val fixture = new Fixture
    import fixture._
    settle()
    val txn = map.begin(v1)
    Thread.currentThread.interrupt()
    assert(valueOf(txn, key(500)) == firstRows.get(key(500)))
    put(txn, key(600), "second")
    assert(Thread.interrupted())
    txn.commit(v2)
    txn.release()
    assert(read(v2) == firstRows + (key(600) -> "second"))
    end()
  }

  test("rows stay in memory while the disk is full, and nothing of them is lost (fault 11)") {
    val full = new FullDisk(room = 0)
    val fixture = new Fixture(full)
    import fixture._
    val before = map.liveObjects
    settle()
    assert(map.liveObjects == before && map.coldFiles.runs == 0 && read(v1) == firstRows)
    full.room = 1
    settle()
    // The first file is still the one on the full disk.
    assert(read(v1) == firstRows)
    write(v1, v2)(put(_, key(1), "second"))
    assert(read(v2) == firstRows + (key(1) -> "second"))
    end()
  }

  test("a scan by key group needs room on the disk, says so, and can be made again (fault 11)") {
    val full = new FullDisk(room = 1)
    val fixture = new Fixture(full)
    import fixture._
    settle()
    assert(map.coldFiles.runs == 16)
    val view = map.pin(v1)
    val error = intercept[OutOfMemory](view.groups(0))
    assert(error.getMessage.contains(full.folder.toString))
    full.room = 1
    assert(view.groups(0).flatMap(group => rows(view.scanGroup(0, group))).toMap == firstRows)
    view.release()
    assert(map.holds(v1) && read(v1) == firstRows)
    end()
  }

  test("after a scan by key group that has failed, another family's is of that family") {
    val full = new FullDisk(room = 1)
    val fixture = new Fixture(full)
    import fixture._
    write(v1, v2) { txn =>
      txn.createFamily(ordered.copy(name = "other"))
      put(txn, "k", "v", family = 1)
    }
    settle()
    val view = map.pin(v2)
    def other = view.groups(1).flatMap(group => rows(view.scanGroup(1, group))).toMap
    assert(other == Map("k" -> "v"))
    intercept[OutOfMemory](view.groups(0))
    assert(other == Map("k" -> "v"))
    view.release()
    end()
  }

  private val long = "x" * 1000

  /** The keys of 2,000 rows, and what has been written since the last spill. */
  private val KeysAndTail = 2000 * 100 + 300 * 1100

  /** A map with 2,000 rows in files, which spills after 200 writes; `write` is called for each.
    *
    * @param most
    *   bytes in memory then
    */
  private def rewriting(spec: FamilySpec, first: String, most: Int)(
      write: (MapTxn, String) => Unit
  )(
      check: MapTxn => Any
  ): Unit = {
    val map = Evicting.mapOn(new WatchedDisk, keyGroups, 1L << 40, writesInMemory = 200)
    commit(map, VersionId.Empty, v1) { txn =>
      txn.createFamily(spec)
      for (i <- 1 to 2000) put(txn, key(i), first, family = 1)
    }
    map.pin(v1).release()
    val txn = map.begin(v1)
    for (i <- 1 to 2000) write(txn, key(i))
    assert(map.memory.offHeap - map.memory.free < most)
    check(txn)
    txn.release()
    map.retain(_ => false)
    assert(map.liveObjects == 0 && map.coldFiles.runs == 0)
    map.close()
  }

  test("of rows in files that a transaction writes anew, only their keys come back for long") {
    rewriting(ordered, s"first $long", KeysAndTail)((txn, key) =>
      put(txn, key, s"second $long", family = 1)
    ) { txn =>
      assert(changes(txn, 1).values.toSet == Set(Some(s"second $long")))
    }
  }

  test("of lists in files that a transaction appends to, only their keys come back for long") {
    rewriting(orderedLists, s"first $long", KeysAndTail)((txn, key) =>
      append(txn, key, "second", family = 1)
    ) { txn =>
      for (i <- 1 to 2000) assert(valuesOf(txn, key(i), 1) == Seq(s"first $long", "second"))
    }
  }

  test("a scan within a leaf that nobody ends keeps no row in memory that could leave it") {
    // Rows that were handed out stay, which are a hundred bytes each.
    rewriting(ordered, "first", 2000 * 75) { (txn, key) =>
      assert(txn.scanPrefix(1, slice(key)).next())
      put(txn, key, "second", family = 1)
    }(txn => assert(changes(txn, 1).values.toSet == Set(Some("second"))))
  }

  test("what a transaction has spilled is gone when it is aborted, and told when it is not") {
    val disk = new WatchedDisk
    val map = Evicting.mapOn(disk, keyGroups, 1L << 40, writesInMemory = 100)
    for (isAborted <- Seq(true, false)) {
      val txn = map.begin(VersionId.Empty)
      txn.createFamily(ordered)
      val written = rowsFrom(1 to 1000, "first")
      for ((k, v) <- written) put(txn, k, v)
      assert(map.coldFiles.runs > 8 && allRows(txn) == written)
      assert(changes(txn) == written.map { case (k, v) => k -> Some(v) })
      if (isAborted) txn.abort() else txn.commit(v1)
      txn.release()
      if (isAborted) assert(map.liveObjects == 0 && map.coldFiles.runs == 0)
    }
    val txn = map.begin(v1)
    for (i <- 1 to 300) put(txn, key(i), "second")
    for (i <- 201 to 500) remove(txn, key(i))
    val put1 = (1 to 200).map(i => key(i) -> Some("second"))
    assert(changes(txn) == (put1 ++ (201 to 500).map(i => key(i) -> None)).toMap)
    txn.release()
    map.retain(_ => false)
    assert(map.liveObjects == 0 && map.coldFiles.runs == 0)
    map.close()
  }

  test("a key group is scanned as it is after a write to another family has moved its rows") {
    val map = Evicting.mapOn(new WatchedDisk, keyGroups, excess = 0, writesInMemory = 1001)
    val txn = map.begin(VersionId.Empty)
    txn.createFamily(ordered)
    txn.createFamily(hashed)
    val written = rowsFrom(1 to 1000, "first")
    for ((k, v) <- written) put(txn, k, v)
    val groups = txn.groups(0)
    assert(map.coldFiles.runs == 0)
    put(txn, "k", "v", family = 1)
    assert(map.coldFiles.runs > 0)
    assert(groups.flatMap(group => rows(txn.scanGroup(0, group))).toMap == written)
    txn.release()
    map.close()
  }
}
