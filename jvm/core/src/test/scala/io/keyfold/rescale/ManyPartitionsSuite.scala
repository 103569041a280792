package io.keyfold.rescale

import io.keyfold.format.{PlanName, RescalePlan, RescaledStore}
import io.keyfold.group.KeyGroups
import io.keyfold.model.{StoreLocation, VersionId}
import io.keyfold.store.StoreFixture
import org.scalatest.funsuite.AnyFunSuite

/** A rescale to a number without a common factor: what it holds, asks for and writes grows with the
  * files of the old partitions and with the number of new ones, not with their product.
  */
class ManyPartitionsSuite extends AnyFunSuite {
  private val Versions = 10

  for ((from, to) <- Seq(100 -> 99, 1000 -> 999, 10000 -> 7919))
    test(s"$from -> $to partitions") {
      val store = new SimulatedStore(from, KeyGroups.defaultCount(from), Versions)
      def planned() = new StorePlanner(store, from, to, Versions.toLong, StorePlanner.InTurn)
        .plan(0, StoreLocation.DefaultStore, None)
      planned()
      Seq(store.lists, store.opens).foreach(_.reset())
      val before = heap()
      val start = System.nanoTime
      val plan = planned()
      val planMs = (System.nanoTime - start) / 1000000
      val held = heap() - before
      val files = plan.layers.flatMap(_.members).map(_.files.length).sum
      assert(files == from * Versions)
      assert(plan.partitions.forall(_.firstLoadFiles == files), "each needs all, and it says so")
      assert(store.lists.sum == from && store.opens.sum == from)
      val written = System.nanoTime
      val name = PlanName(Versions.toLong, "plan")
      val writer = new ReferenceWriter(store, name, to, StoreFixture.clock, "test")
      val parts = writer.writeManifest(Seq(plan)).head
      plan.partitions.foreach { it =>
        writer.write(plan, it, VersionId(Versions + 1L), plan.partsOf(it.partition, parts))
      }
      val ms = (System.nanoTime - written) / 1000000
      info(
        s"$planMs ms to plan, $ms ms to write, plan of ${held >> 10} KiB, ${store.lists.sum} " +
          s"listings, ${store.opens.sum} files opened, ${store.writes.sum} of " +
          s"${store.writtenBytes.sum} bytes written; each first load opens $files files, reads " +
          s"${plan.partitions.head.firstLoadBytes * 100 / plan.referencedBytes} % of their rows"
      )
      assert(store.writes.sum == 1 + to)
      val references = plan.partitions.map(ReferenceWriter.pathOf(plan, _, VersionId(11)))
      val stores = Seq(RescaledStore(0, plan.store, references, plan.frozen))
      val file = RescalePlan(name, from, to, stores)
      RescalePlan.write(store, file)
      assert(RescalePlan.read(store, name) == file)
      // Whatever else the test's JVM allocates meanwhile is in it.
      assert(held < 500L * (files + to) + (4L << 20))
      assert(store.writtenBytes.sum < 40L * files + 400L * to)
    }

  private def heap() = {
    (1 to 3).foreach(_ => System.gc())
    Runtime.getRuntime.totalMemory - Runtime.getRuntime.freeMemory
  }
}
