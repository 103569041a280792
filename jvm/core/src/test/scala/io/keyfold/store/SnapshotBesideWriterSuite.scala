package io.keyfold.store

import io.keyfold.errors.OutOfOrder
import io.keyfold.model.VersionId
import io.keyfold.testkit.Running
import org.scalatest.funsuite.AnyFunSuite

/** Snapshots that are written of a pinned view while transactions put, remove, commit, abort and
  * let versions go; and a store that is closed beneath snapshots and scans.
  */
class SnapshotBesideWriterSuite extends AnyFunSuite {
  import StoreFixture._

  for (family <- Seq(rowFamily, orderedFamily)) {
    val kind = if (family.ordered) "ordered" else "hashed"

    test(s"$kind: a snapshot held before any block is of its version, whatever is written then") {
      val blocks = new LargeStore(family).snapshotBlocks
      assert(blocks >= 4)
      for (nth <- 1 to blocks + 2) {
        val it = new LargeStore(family)
        val gate = it.held.hold("4.snapshot", nth)
        val snapshot = new Running(it.store.snapshotIfDue())
        gate.awaitArrival()
        it.abort(5)
        for (v <- 5 to 7) it.commit(v)
        it.abort(8)
        assert(it.hasInMemory(7))
        gate.open()
        assert(snapshot.result().contains(VersionId(4)))
        it.requireFromSnapshot(4)
        for (v <- 5 to 7) assert(it.hasInFiles(v), s"version $v")
        it.closeAndCheckMemory()
      }
    }

    test(s"$kind: snapshots one after the other beside a writer are each of their version") {
      val it = new LargeStore(family, settings.copy(deltasPerSnapshot = 1, versionsToRetain = 50))
      val (first, last) = (5, 24)
      val writer = new Running(for (v <- first to last) {
        if (v % 3 == 0) it.abort(v)
        it.commit(v)
      })
      var written = Set.empty[VersionId]
      while (!writer.isDone) written ++= it.store.snapshotIfDue()
      writer.result()
      assert(written.nonEmpty)
      for (version <- written.toSeq.sortBy(-_.version)) {
        it.requireFromSnapshot(version.version.toInt)
      }
      it.closeAndCheckMemory()
    }

    test(s"$kind: a snapshot goes on when its store is closed, and then the memory goes back") {
      val blocks = new LargeStore(family).snapshotBlocks
      for (nth <- 1 to blocks + 2) {
        val it = new LargeStore(family)
        val gate = it.held.hold("4.snapshot", nth)
        val snapshot = new Running(it.store.snapshotIfDue())
        gate.awaitArrival()
        it.store.close()
        assert(it.usedBytes > 0, "the view that is written is pinned")
        gate.open()
        assert(snapshot.result().contains(VersionId(4)))
        assert(it.usedBytes == 0)
        it.requireFromSnapshot(4)
      }
    }

    test(s"$kind: scans go on when their store is closed; the memory goes with the last view") {
      val it = new LargeStore(family)
      val older = it.store.read(VersionId(3))
      val newer = it.store.read(VersionId(4))
      val txn = it.store.begin(VersionId(4))
      val cursors = Seq(older.scan(0), newer.scan(0), txn.scan(0))
      cursors.foreach(cursor => assert((1 to 1000).forall(_ => cursor.next())))
      val closing = new Running(it.store.close())
      assert(it.isVersion(3, older) && it.isVersion(4, newer))
      closing.result()
      put(txn, "after", "close")
      val counts =
        cursors.map(cursor => Iterator.continually(cursor.next()).takeWhile(identity).size)
      assert(counts == Seq(3, 4, 4).map(it.rows(_).size - 1000))
      new Running({
        assert(it.isVersion(4, newer))
        newer.release()
      }).result()
      assert(it.isVersion(3, older) && get(txn, "after").contains("close"))
      txn.release()
      assert(it.usedBytes > 0 && it.isVersion(3, older))
      older.release()
      assert(it.usedBytes == 0)
      intercept[OutOfOrder](get(older, it.rows(3).head._1))
    }

    test(s"$kind: a reader reads on while its store is closed and another one fills the memory") {
      val it = new LargeStore(family)
      val view = it.store.read(VersionId(4))
      val reader = new Running(for (_ <- 1 to 8) assert(it.isVersion(4, view)))
      it.store.close()
      val other = it.fixture.open()
      assert(it.isVersion(4, other.read(VersionId(4))))
      reader.result()
      view.release()
      assert(it.usedBytes > 0)
      other.close()
    }
  }
}
