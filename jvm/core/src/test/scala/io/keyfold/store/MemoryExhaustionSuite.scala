package io.keyfold.store

import scala.collection.mutable

import io.keyfold.errors.{OutOfMemory, OutOfOrder}
import io.keyfold.mem.page.{FullDisk, PagePool, PageRun}
import io.keyfold.model.{FamilySpec, VersionId}
import org.scalatest.funsuite.AnyFunSuite

/** Operations of a store for which memory runs out, and the disk for spilling too, at each page
  * that they take: the error says so, the last committed version is intact, all memory is given
  * back, and the operation goes through once there is room.
  */
class MemoryExhaustionSuite extends AnyFunSuite {
  import MemoryExhaustionSuite._
  import StoreFixture._

  for (family <- Seq(rowFamily, orderedFamily)) {
    val kind = if (family.ordered) "ordered" else "hashed"

    def testEachPage(name: String)(body: Run => Any): Unit = test(s"$kind: $name") {
      var pages = 0
      var failed = true
      while (failed) {
        val run = new Run(family, pages)
        withClue(s"with $pages pages left: ")(body(run))
        run.end()
        failed = run.hasFailed
        pages += 1
      }
      info(s"$pages pages")
      assert(pages > 10, "too few points at which it can fail")
    }

    testEachPage("a batch that puts and removes") { run =>
      import run._
      for (v <- 1 to 3) commit(v)
      val pinned = store.read(VersionId(3))
      val txn = store.begin(VersionId(3))
      val open = txn.scan(0)
      fill()
      failing(write(txn, 4)) {
        // A task that goes on nevertheless gets an error, and no rows of a half changed index.
        intercept[Exception](put(txn, "more", "more"))
        intercept[OutOfOrder](StoreFixture.rows(txn))
        intercept[OutOfOrder](open.next())
        intercept[Exception](txn.commit())
        txn.abort()
        txn.release()
        assert(StoreFixture.rows(pinned) == rows(3))
        pinned.release()
        assert(usedBytes == 0, "memory is left")
        assert(loadedHere(3) == rows(3))
        // The same task again, while there is still no room.
        val again = store.begin(VersionId(3))
        fill()
        failing(write(again, 4))(())
        again.release()
        assert(loadedHere(3) == rows(3))
      }
      makeRoom()
      pinned.release()
      txn.release()
      commit(4)
      assert(loadedHere(4) == rows(4) && fixture.loaded(4) == rows(4) && loadedHere(3) == rows(3))
    }

    testEachPage("the first batch of a query") { run =>
      import run._
      val txn = store.begin(VersionId.Empty)
      fill()
      failing(write(txn, 1))(())
      txn.release()
      makeRoom()
      commit(1)
      assert(loadedHere(1) == rows(1) && fixture.loaded(1) == rows(1))
    }

    testEachPage("a load of snapshot and deltas") { run =>
      import run._
      for (v <- 1 to 4) commit(v)
      store.snapshotIfDue()
      commit(5)
      assert(fixture.blobs.exists(fixture.path("3.snapshot")))
      store.close()
      assert(usedBytes == 0)
      fill()
      val other = fixture.open()
      failing(other.read(VersionId(5)).release())(assert(usedBytes == 0))
      failing(other.begin(VersionId(5)).release())(assert(usedBytes == 0))
      makeRoom()
      val txn = other.begin(VersionId(5))
      assert(StoreFixture.rows(txn) == rows(5))
      txn.release()
      other.close()
      assert(fixture.loaded(5) == rows(5))
    }

    test(s"$kind: a commit, its snapshot and an abort take no memory") {
      val run = new Run(family, 0)
      import run._
      for (v <- 1 to 3) commit(v)
      val txn = store.begin(VersionId(3))
      write(txn, 4)
      fill()
      txn.commit(forceSnapshot = true)
      txn.release()
      assert(loadedHere(4) == rows(4))
      for (v <- 1 to 3) fixture.blobs.delete(fixture.path(s"$v.delta"))
      val aborted = store.begin(VersionId(4))
      assert(StoreFixture.rows(aborted) == rows(4))
      aborted.abort()
      aborted.release()
      makeRoom()
      assert(fixture.loaded(4) == rows(4))
      end()
    }
  }

  test("state that has spilled runs into the end of the disk, and spills again later (fault 11)") {
    val disk = new FullDisk(room = 0)
    val fixture = new StoreFixture(pool = new PagePool(1L << 20, Some(disk)))
    val store = fixture.open()
    val first = store.begin(VersionId.Empty)
    put(first, "k", "1")
    first.commit()
    first.release()
    val value = "v" * 10000
    def write(txn: StoreTxn): Unit = for (i <- 1 to 3000) put(txn, s"k$i", value)
    val txn = store.begin(VersionId(1))
    val error = intercept[OutOfMemory](write(txn))
    for (part <- Seq("memory.maxBytes", "No space left on device", disk.folder.toString)) {
      assert(error.getMessage.contains(part))
    }
    txn.release()
    assert(fixture.blobs.list(fixture.location.folder) == Seq("1.delta"))
    assert(fixture.loaded(1) == Map("k" -> "1"))
    assert(fixture.pool.mappedBytes == 0 && fixture.pool.allocatedBytes == 0)
    disk.room = 16
    val again = store.begin(VersionId(1))
    write(again)
    assert(again.commit() == VersionId(2))
    assert(store.memory.mapped > 0)
    assert(rows(again).size == 3001 && rows(again).values.toSet == Set("1", value))
    again.release()
    store.close()
    assert(fixture.pool.mappedBytes == 0)
    disk.delete()
  }
}

private object MemoryExhaustionSuite {
  import StoreFixture._

  /** Rows after each version: a few hundred, some of them larger than a page. */
  private def changes(version: Int): Seq[(String, Option[String])] =
    for (i <- 0 until 300 * version) yield {
      val n = (i * 7 + version * 131) % 3000
      val length = if (i % 100 == 98) 20000 else n % 60 * (version % 3 + 1)
      s"key$n" -> Option.unless(i % 5 == 4)(s"$version" * length)
    }

  private val expected: LazyList[Map[String, String]] =
    Map.empty[String, String] #:: expected.zipWithIndex.map { case (before, v) =>
      changes(v + 1).foldLeft(before) {
        case (rows, (key, Some(value))) => rows.updated(key, value)
        case (rows, (key, None))        => rows - key
      }
    }

  /** @param left
    *   pages that are left when memory is filled
    */
  private final class Run(family: FamilySpec, left: Int) {
    private val disk = new FullDisk(room = 0)
    val fixture = new StoreFixture(family = family, pool = new PagePool(Budget, Some(disk)))
    val store: VersionedStore = fixture.open()
    private val ballast = mutable.Stack.empty[PageRun]

    /** Whether memory has run out for an operation. */
    var hasFailed = false

    def rows(version: Int): Map[String, String] = expected(version)

    def write(txn: StoreTxn, version: Int): Unit = changes(version).foreach {
      case (key, Some(value)) => put(txn, key, value)
      case (key, None)        => remove(txn, key)
    }

    def commit(version: Int): Unit = {
      val txn = store.begin(VersionId(version - 1L))
      write(txn, version)
      txn.commit()
      txn.release()
    }

    def loadedHere(version: Int): Map[String, String] = {
      val view = store.read(VersionId(version.toLong))
      try StoreFixture.rows(view)
      finally view.release()
    }

    /** Takes all memory but the pages that are to be left. */
    def fill(): Unit = {
      try while (true) ballast.push(fixture.pool.allocate(1))
      catch { case _: OutOfMemory => () }
      for (_ <- 1 to left) fixture.pool.free(ballast.pop())
    }

    def makeRoom(): Unit = while (ballast.nonEmpty) fixture.pool.free(ballast.pop())

    /** Runs what may take more memory than there is, and `afterwards` if it did. */
    def failing(body: => Any)(afterwards: => Any): Unit =
      try {
        body
        ()
      } catch {
        case e: OutOfMemory =>
          hasFailed = true
          require(e.condition == "KEYFOLD_OUT_OF_MEMORY")
          for (part <- Seq("memory.maxBytes", "No space left on device", disk.folder.toString)) {
            require(e.getMessage.contains(part), e.getMessage)
          }
          afterwards
          ()
      }

    /** Bytes of the pool that stores have. */
    def usedBytes: Long =
      fixture.pool.allocatedBytes - fixture.pool.freeBytes - ballast.size * PagePool.PageBytes

    def end(): Unit = {
      makeRoom()
      store.close()
      require(fixture.pool.allocatedBytes == 0, "memory is left")
      disk.delete()
    }
  }

  private val Budget = 4L << 20
}
