package io.keyfold.store

import java.nio.file.Files

import scala.util.Random

import io.keyfold.errors.LocalFileFailed
import io.keyfold.mem.page.{FullDisk, PagePool, SpillFiles, WatchedDisk}
import io.keyfold.model.VersionId
import io.keyfold.store.file.RowChecksumSettings
import org.scalatest.funsuite.AnyFunSuite

/** Loads of a version of which memory holds a small part: rows stay in the blocks of its files
  * until they are asked for often, or others are written over them.
  */
class LoadWithoutRoomSuite extends AnyFunSuite {
  import StoreFixture._

  private val count = 12000
  private val long = "v" * 200

  private def key(i: Int) = s"key $i"

  /** Version 1 puts all rows, version 2 replaces some, version 3, of which there is a snapshot too,
    * and 4 remove some and put some of these again.
    */
  private def written(settings: file.StoreSettings) = {
    val fixture = new StoreFixture(settings = settings)
    val store = fixture.open()
    fixture.commit(store, 0, (0 until count).map(i => key(i) -> s"1 $i $long"): _*)
    fixture.commit(store, 1, (0 until count by 7).map(i => key(i) -> s"2 $i"): _*)
    val third = store.begin(VersionId(2))
    for (i <- 0 until count by 5) remove(third, key(i))
    third.commit()
    store.begin(VersionId(3)).release()
    assert(store.snapshotIfDue().contains(VersionId(3)))
    val fourth = store.begin(VersionId(3))
    for (i <- 0 until count by 10) put(fourth, key(i), s"4 $i")
    for (i <- 0 until count by 11) remove(fourth, key(i))
    fourth.commit()
    store.close()
    fixture.blobs
  }

  private val rowsOf4 = (0 until count).flatMap { i =>
    if (i % 11 == 0) None
    else if (i % 10 == 0) Some(key(i) -> s"4 $i")
    else if (i % 5 == 0) None
    else if (i % 7 == 0) Some(key(i) -> s"2 $i")
    else Some(key(i) -> s"1 $i $long")
  }.toMap

  private val budget = 1L << 20

  /** @return
    *   a fixture with little memory
    */
  private def little(
      settings: file.StoreSettings = StoreFixture.settings,
      files: SpillFiles = new SpillFiles(Files.createTempDirectory("keyfold-little"))
  ) = new StoreFixture(
    written(settings),
    settings = settings,
    pool = new PagePool(budget, Some(files))
  )

  private def keysAtRandom = Random.shuffle((0 until count + 500).map(key).toVector)

  private val checksums = StoreFixture.settings.copy(rowChecksums = Some(RowChecksumSettings(1)))

  for (
    (what, settings) <- Seq("rows" -> StoreFixture.settings, "rows with checksums" -> checksums)
  ) {
    test(s"each of $what is found, however often it is asked for, and no other") {
      val fixture = little(settings)
      val store = fixture.open()
      val view = store.read(VersionId(4))
      val used = fixture.usedBytes
      for (_ <- 1 to 2; key <- keysAtRandom) assert(get(view, key) == rowsOf4.get(key), key)
      assert(fixture.usedBytes - used < budget / 2)
      assert(rows(view) == rowsOf4)
      view.release()
      store.close()
      assert(fixture.usedBytes == 0)
    }
  }

  test("blocks that keep rows count as local files, until the store is closed") {
    val store = little().open()
    val view = store.read(VersionId(4))
    assert(store.memory.mapped == 0)
    assert(get(view, key(1)) == rowsOf4.get(key(1)))
    assert(store.memory.mapped > rowsOf4.size)
    view.release()
    store.close()
    assert(store.memory.mapped == 0)
  }

  test("rows that nobody has asked for are scanned, again and again") {
    val store = little().open()
    val view = store.read(VersionId(4))
    for (_ <- 1 to 6) assert(rows(view) == rowsOf4)
    view.release()
    store.close()
  }

  for ((what, settings) <- Seq("rows" -> StoreFixture.settings, "rows with checksums" -> checksums))
    test(
      s"$what are replaced, removed and put over those that stayed in their blocks"
    ) {
      val random = new Random(1)
      val fixture = little(settings)
      val store = fixture.open()
      var expected = rowsOf4
      for (base <- 4 to 40) {
        val txn = store.begin(VersionId(base.toLong))
        for (_ <- 1 to 300) {
          val some = key(random.nextInt(count + 500))
          if (random.nextInt(4) == 0) {
            assert(remove(txn, some) == expected.contains(some))
            expected -= some
          } else {
            assert(get(txn, some) == expected.get(some))
            put(txn, some, s"$base $long")
            expected += some -> s"$base $long"
          }
        }
        assert(txn.families(0).keys == expected.size)
        txn.commit()
        txn.release()
        if (base % 9 == 0) {
          val view = store.read(VersionId(base + 1L))
          assert(rows(view) == expected)
          view.release()
        }
      }
      store.close()
      assert(fixture.usedBytes == 0 && fixture.loaded(41) == expected)
    }

  for ((what, damage) <- WatchedDisk.damages; areStored <- Seq(false, true)) {
    val where = if (areStored) "that were asked for often" else "in their blocks"
    test(s"$what with rows $where ends the task, and the retry has all rows (fault 21)") {
      val disk = new WatchedDisk
      val store = little(files = disk).open()
      val view = store.read(VersionId(4))
      if (areStored) for (_ <- 1 to 2; key <- keysAtRandom) get(view, key)
      damage(disk)
      intercept[LocalFileFailed](keysAtRandom.foreach(get(view, _)))
      view.release()
      val again = store.read(VersionId(4))
      for (key <- keysAtRandom) assert(get(again, key) == rowsOf4.get(key), key)
      again.release()
      store.close()
    }
  }

  test("if the disk has no room for rows that are asked for often, they stay (fault 11)") {
    val disk = new FullDisk(1)
    val fixture = little(files = disk)
    disk.room = 1
    val store = fixture.open()
    val view = store.read(VersionId(4))
    for (_ <- 1 to 2; key <- keysAtRandom) assert(get(view, key) == rowsOf4.get(key), key)
    assert(disk.room < 0)
    view.release()
    store.close()
  }

  test("a thread that is interrupted finds rows that stayed in their blocks (fault 21)") {
    val store = little().open()
    val view = store.read(VersionId(4))
    // In each key group: what an interrupted thread asks for first it reads for itself alone.
    for (i <- 0 until 100) assert(get(view, key(i)) == rowsOf4.get(key(i)))
    Thread.currentThread.interrupt()
    val found = (0 until count).map(i => get(view, key(i)))
    assert(Thread.interrupted())
    assert(found == (0 until count).map(i => rowsOf4.get(key(i))))
    view.release()
    store.close()
  }

  test("a transaction that is aborted leaves the rows that stayed in their blocks as they were") {
    val store = little().open()
    val txn = store.begin(VersionId(4))
    for (i <- 0 until count by 3) {
      if (i % 2 == 0) put(txn, key(i), "new") else remove(txn, key(i))
    }
    txn.release()
    val view = store.read(VersionId(4))
    assert(rows(view) == rowsOf4)
    view.release()
    store.close()
  }
}
