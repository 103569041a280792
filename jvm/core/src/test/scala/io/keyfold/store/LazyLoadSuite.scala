package io.keyfold.store

import io.keyfold.errors.{LocalFileFailed, OutOfOrder, UnreadableVersion}
import io.keyfold.format.wire.Codec
import io.keyfold.mem.Slice
import io.keyfold.mem.page.{FullDisk, PagePool, WatchedDisk}
import io.keyfold.model.VersionId
import io.keyfold.store.file.{RowChecksumSettings, StoreSettings}
import org.scalatest.funsuite.AnyFunSuite

/** A load that leaves rows in files until somebody asks for their key group. */
class LazyLoadSuite extends AnyFunSuite {
  import StoreFixture._

  private val Version = 9

  /** Files of a snapshot with some hundred rows and of deltas that add, change and remove rows. */
  private def written(
      pool: PagePool = new StoreFixture().pool,
      settings: StoreSettings = settings
  ): (StoreFixture, Map[String, String]) = {
    val fixture = new StoreFixture(pool = pool, settings = settings)
    val store = fixture.open()
    var all = Map.empty[String, String]
    for (v <- 1 to Version) {
      val txn = store.begin(VersionId(v - 1L))
      for (i <- 1 to 400 by v) {
        put(txn, s"k$i", s"$v")
        all += s"k$i" -> s"$v"
      }
      for (i <- v to 400 by 50) {
        assert(remove(txn, s"k$i") == all.contains(s"k$i"))
        all -= s"k$i"
      }
      txn.commit()
      txn.release()
      if (v == 4) store.snapshotIfDue()
    }
    store.close()
    (new StoreFixture(fixture.blobs, pool = pool, settings = settings), all)
  }

  private def get(view: StoreView, key: String): Option[String] = {
    val value = new Slice
    Option.when(view.get(0, hash(key), slice(key), value))(text(value))
  }

  private val keys = (1 to 400).map(i => s"k$i").sortBy(_.hashCode)

  test("each row is as the chain's files have it, whichever is asked for first") {
    val (fixture, all) = written()
    val store = fixture.open()
    val view = store.read(VersionId(Version.toLong))
    assert(view.families.head.keys == all.size)
    for (key <- keys) assert(get(view, key) == all.get(key), key)
    assert(rows(view) == all)
    view.release()
    assert(store.counters.loads.sum == 1)
    store.close()
  }

  test("rows that have not come are read though the checkpoint's files are gone") {
    val (fixture, all) = written()
    val store = fixture.open()
    val txn = store.begin(VersionId(Version.toLong))
    put(txn, "k1", "new")
    fixture.blobs
      .list(fixture.location.folder)
      .foreach(name => fixture.blobs.delete(fixture.path(name)))
    for (key <- keys if key != "k1") assert(get(txn, key) == all.get(key), key)
    assert(rows(txn) == all.updated("k1", "new"))
    txn.release()
    store.close()
  }

  test("a version that is built on rows that have not come has all of them, also in its snapshot") {
    val (fixture, all) = written()
    val store = fixture.open(settings.copy(deltasPerSnapshot = 1))
    for (v <- Version to Version + 2) {
      val txn = store.begin(VersionId(v.toLong))
      put(txn, s"new$v", s"$v")
      txn.commit()
      txn.release()
    }
    val expected = all ++ (Version to Version + 2).map(v => s"new$v" -> s"$v")
    assert(fixture.loaded(Version + 3L) == expected)
    assert(store.snapshotIfDue().nonEmpty)
    store.close()
    assert(fixture.loaded(Version + 3L) == expected)
    assert(fixture.pool.allocatedBytes + fixture.pool.mappedBytes == 0 || fixture.usedBytes == 0)
  }

  test("if the local disk is full, all rows are put at once (fault 11)") {
    for (room <- 0 to 1) {
      val disk = new FullDisk(room)
      val (fixture, all) = written(new PagePool(1L << 30, Some(disk)))
      disk.room = room
      val store = fixture.open()
      val view = store.read(VersionId(Version.toLong))
      assert(rows(view) == all)
      view.release()
      store.close()
    }
  }

  for ((what, damage) <- WatchedDisk.damages) {
    test(s"$what on the local disk ends the task, and the retry has all rows (fault 21)") {
      val disk = new WatchedDisk
      val (fixture, all) = written(new PagePool(1L << 30, Some(disk)))
      val store = fixture.open()
      val txn = store.begin(VersionId(Version.toLong))
      damage(disk)
      intercept[LocalFileFailed](put(txn, "k1", "new"))
      intercept[OutOfOrder](txn.commit())
      txn.release()
      val again = store.begin(VersionId(Version.toLong))
      put(again, "k1", "new")
      assert(rows(again) == all.updated("k1", "new"))
      again.commit()
      again.release()
      store.close()
      assert(fixture.loaded(Version + 1L) == all.updated("k1", "new"))
    }
  }

  test("a thread that is interrupted reads rows that were left for later (fault 21)") {
    val (fixture, all) = written()
    val store = fixture.open()
    val txn = store.begin(VersionId(Version.toLong))
    Thread.currentThread.interrupt()
    val found = keys.map(get(txn, _))
    assert(Thread.interrupted())
    assert(found == keys.map(all.get))
    txn.release()
    store.close()
  }

  test("rows with checksums come late with theirs, and count their own bytes only") {
    val (fixture, all) = written()
    val checked = settings.copy(
      rowChecksums = Some(RowChecksumSettings(verifyEvery = 1))
    )
    val store = fixture.open(checked)
    val view = store.read(VersionId(Version.toLong))
    assert(view.families.head.bytes == all.map { case (k, v) => k.length + v.length }.sum)
    assert(rows(view) == all)
    view.release()
    store.close()
  }

  test("a snapshot whose rows are in the wrong place is left out by the retry") {
    val (fixture, all) = written(settings = settings.copy(partitions = 0, codec = Codec.Plain))
    MoveRow.claimPartitions(fixture.blobs, fixture.path("3.snapshot"), 1000)
    val store = fixture.open()
    val txn = store.begin(VersionId(Version.toLong))
    val error = intercept[UnreadableVersion](keys.foreach(get(txn, _)))
    assert(error.getMessage.contains("does not belong to partition"))
    txn.release()
    val again = store.read(VersionId(Version.toLong))
    assert(rows(again) == all)
    again.release()
    store.close()
  }

  test("a store that is closed while a task reads gives it the rows that have not come") {
    val (fixture, all) = written()
    val store = fixture.open()
    val view = store.read(VersionId(Version.toLong))
    assert(get(view, "k2") == all.get("k2"))
    store.close()
    assert(rows(view) == all)
    view.release()
    assert(fixture.usedBytes == 0)
  }
}
