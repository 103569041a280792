package io.keyfold.rescale

import scala.collection.mutable

import io.keyfold.format.RescalePlan
import org.scalatest.funsuite.AnyFunSuite

/** What a rescale left is deleted by one thread, which other stores wait for: in shares. */
class SettlingSuite extends AnyFunSuite {
  import RescaledOperator._

  /** Beside those for the share: looking for plans, for the base, and in the store's own folder. */
  private val Most = 500 + 20

  private def plans(it: RescaledOperator) =
    it.blobs.list(RescalePlan.Folder).filter(RescalePlan.parseName(_).nonEmpty)

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
      val old = it.blobs.paths.filter(path => path.matches("0/[1-9]\\d*/[123](_.*)?\\.delta"))
      assert(old.isEmpty)
      it.check()
    }
}
