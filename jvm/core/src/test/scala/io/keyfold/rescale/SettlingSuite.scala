package io.keyfold.rescale

import scala.collection.mutable

import io.keyfold.format.PlanName
import io.keyfold.store.StoreFixture
import org.scalatest.funsuite.AnyFunSuite

/** What a rescale left is deleted by one thread, which other stores wait for: in shares. */
class SettlingSuite extends AnyFunSuite {
  import RescaledOperator._

  /** Beside those for the share: looking for plans, for the base, and in the store's own folder. */
  private val Most = 500 + 20

  private def plans(it: RescaledOperator) =
    it.blobs.list(PlanName.Folder).flatMap(PlanName.parse)

  for (ids <- Seq(true, false))
    test(s"each call of maintenance asks a bounded number of times, ids: $ids") {
      val it = new RescaledOperator(800, 800, ids)
      for (_ <- 1 to 3) it.batch(Seq(Put("default", "k", "v")))
      it.rescale(600)
      for (_ <- 1 to 8) {
        it.batch(Nil)
        it.maintain(_ != 0)
        it.snapshotIfDue(0)
      }
      assert(plans(it).length == 1)
      val requests = mutable.Buffer.empty[Long]
      while (plans(it).nonEmpty && requests.length < 100) {
        it.blobs.counts.reset()
        it.cleanup(0)
        val counts = it.blobs.counts
        requests += counts.lists + counts.deletes + counts.exists + counts.opens
      }
      assert(requests.max <= Most, requests)
      // 600 references to ask for, 799 folders to list, and files to delete: with ids, those of
      // version 1 alone, which the others lead to.
      val files = if (ids) 799 else 2397
      assert(plans(it).isEmpty && requests.length > (600 + 799 + files) / Most, requests)
      // Version 1 to 3 of partitions that are no more, or were others'.
      val old = it.blobs.paths.filter(path => path.matches("state/0/[1-9]\\d*/[123](_.*)?\\.delta"))
      assert(old.isEmpty)
      it.check()
    }

  /** 2 partitions become 4, and maintenance finds a snapshot due at the version of the rescale. */
  private def rescaledWithSnapshots() = {
    val each = StoreFixture.settings.copy(versionsToRetain = 2, deltasPerSnapshot = 1)
    val it = new RescaledOperator(2, 12, ids = true, settings = each)
    for (k <- 1 to 8) it.batch(Seq(Put("default", s"k$k", "v")))
    it.rescale(4)
    it.read()
    it.maintain()
    it
  }

  test("partitions that never change again give up their references for snapshots") {
    val it = rescaledWithSnapshots()
    for (_ <- 1 to 10) {
      it.batch(Nil)
      it.read()
      it.maintain()
    }
    assert(plans(it).isEmpty)
    assert(it.blobs.paths.forall(_.matches("state/0/[0-3]/9_.*\\.snapshot")), it.blobs.paths)
    it.check()
  }

  test("one partition that never changes again does not keep the old files of the others") {
    val it = rescaledWithSnapshots()
    val keys = (1 to 100).map(n => s"b$n").filter(key => Math.floorMod(hash(key), 4) != 3)
    for (key <- keys.take(20)) {
      it.batch(Seq(Put("default", key, "v")))
      it.read()
      it.maintain()
    }
    assert(plans(it).isEmpty)
    assert(it.blobs.paths.filter(_.startsWith("state/0/3/")).forall(_.endsWith(".snapshot")))
    it.check()
  }

  test("the change feed begins above a rescale, also where nothing has changed since") {
    val it = rescaledWithSnapshots()
    val rescaled = it.version
    for (_ <- 1 to 3) it.batch(Nil)
    for (p <- 0 until 4) assert(it.changes(p, rescaled + 2, rescaled + 3) == 0)
  }

  for ((batches, isGone) <- Seq(1 -> false, 8 -> false, 8 -> true))
    test(
      s"a partition that was written again does not void the rescale, after $batches batches, " +
        s"its reference is gone: $isGone"
    ) {
      val it = new RescaledOperator(2, 12, ids = true)
      for (n <- 1 to batches; k <- 1 to 8) it.batch(Seq(Put("default", s"n$n k$k", "v")))
      it.rescale(4)
      val (at, rescaled) = (it.version, it.current)
      it.rewrite(0)
      val rewritten = it.current
      it.check()
      it.versions(it.version) = rescaled
      it.check()
      it.versions(it.version) = rewritten
      // Nothing needs it: a clone or a vacuum may leave it out.
      if (isGone) {
        it.blobs.delete(it.blobs.paths.find(_.matches(s"state/0/0/${at}_.*\\.ref")).get)
      }
      val own = (1 to 100).map(n => s"b$n").filter(key => Math.floorMod(hash(key), 4) == 0)
      for (key <- own.take(12)) {
        it.batch(Seq(Put("default", key, "v")))
        it.cleanup(0)
        it.restart()
        it.check()
      }
      assert(plans(it).nonEmpty, "references are in use")
      for (_ <- 1 to 30) {
        it.batch((1 to 16).map(n => Put("default", s"c$n", "v")))
        it.maintain()
        it.check()
      }
      assert(plans(it).isEmpty)
      assert(it.blobs.paths.map(_.replaceAll(".*/(\\d+)_.*", "$1").toLong).min > at)
    }

  for (isChanged <- Seq(true, false))
    test(s"one that was written again batches later shows the rescale, changed: $isChanged") {
      val it = new RescaledOperator(2, 12, ids = true)
      for (k <- 1 to 8) it.batch(Seq(Put("default", s"k$k", "v")))
      it.rescale(4)
      val own = (1 to 200).map(n => s"b$n").filter(key => Math.floorMod(hash(key), 4) == 0)
      val keys = if (isChanged) own else (1 to 200).map(n => s"c$n").diff(own)
      for (key <- keys.take(3)) it.batch(Seq(Put("default", key, "v")))
      if (!isChanged) it.batch(Nil)
      it.rewrite(0)
      for (_ <- 1 to 30) {
        it.batch((1 to 16).map(n => Put("default", s"d$n", "v")))
        it.maintain()
        it.check()
      }
      assert(plans(it).isEmpty)
      it.restart()
      it.check()
    }

  test("partitions that were written again and never change do not keep the old files") {
    val it = new RescaledOperator(2, 12, ids = true)
    for (k <- 1 to 8) it.batch(Seq(Put("default", s"k$k", "v")))
    it.rescale(4)
    for (p <- Seq(0, 2)) it.rewrite(p)
    val keys = (1 to 200).map(n => s"b$n").filter(key => Math.floorMod(hash(key), 2) == 1)
    for (key <- keys.take(40)) {
      it.batch(Seq(Put("default", key, "v")))
      it.read()
      it.maintain()
      it.check()
    }
    assert(plans(it).isEmpty)
    it.restart()
    it.check()
  }

  test("a plan that was not begun is void, also where a partition was written again") {
    val it = new RescaledOperator(2, 12, ids = true)
    for (k <- 1 to 8) it.batch(Seq(Put("default", s"k$k", "v")))
    it.rescale(1, isDecided = false)
    it.batch(Seq(Put("default", "more", "v")))
    it.rewrite(0)
    val own = (1 to 100).map(n => s"b$n").filter(key => Math.floorMod(hash(key), 2) == 0)
    for (key <- own.take(30)) {
      it.batch(Seq(Put("default", key, "v")))
      it.maintain(_ == 0)
      it.restart()
      it.check()
    }
    assert(plans(it).isEmpty)
  }
}
