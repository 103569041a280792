package io.keyfold.spark

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.keyfold.testkit.{Failure, FileCall, Running}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.state.StateStoreProvider
import org.apache.spark.sql.keyfold.StateStores
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite

/** Queries that are started for what is there, again and again, and end before Spark's maintenance
  * comes for the first time.
  */
class ShortRunsSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import ProviderFixture.inFolder

  /** A count that is run for one batch at a time. Each run begins without state in memory. */
  private class Runs(f: ProviderFixture, format: Int) {
    private val session = spark
    import session.implicits._

    private val input = MemoryStream[Int](session)
    private val counted = mutable.Map.empty[Int, Long]
    var runs = 0

    private val settings = f.faults.settings ++ Map(
      "spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString,
      "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "3",
      "spark.sql.streaming.minBatchesToRetain" -> "2",
      "spark.sql.streaming.stateStore.maintenanceInterval" -> "1h"
    )

    /** Each batch has the same values, which fall into both partitions. */
    def run(count: Int): Unit = for (_ <- 1 to count) {
      StateStores.stop()
      settings.foreach { case (key, value) => session.conf.set(key, value) }
      runs += 1
      input.addData(1 to 10)
      val query = input
        .toDF()
        .groupBy("value")
        .count()
        .writeStream
        .outputMode("update")
        .option("checkpointLocation", f.root.toString)
        .trigger(Trigger.AvailableNow())
        .foreachBatch { (batch: DataFrame, _: Long) =>
          counted ++= batch.as[(Int, Long)].collect()
          ()
        }
        .start()
      query.awaitTermination()
    }

    def requireRight(): Unit = {
      assert(counted == (1 to 10).map(_ -> runs.toLong).toMap)
      ()
    }

    /** Deltas that a run opens in both partitions, beside the background. */
    def deltasRead(): Int = {
      val gate = InBackground.hold()
      f.faults.plan.clear()
      run(1)
      val calls = f.faults.plan.calls
      gate.open()
      calls.filter(_.what == "open").map(_.path).distinct.count(_.endsWith(".delta"))
    }

    def files: Seq[String] =
      for {
        partition <- Seq("0", "1")
        name <- f.root.resolve(s"state/0/$partition").toFile.list.toSeq
        if name.matches("""\.?[0-9].*""") && !name.endsWith(".crc")
      } yield s"$partition/$name"
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: 20 runs of one batch each: files and loads do not grow") {
      inFolder() { f =>
        val it = new Runs(f, format)
        for (_ <- 1 to 10) {
          it.run(1)
          InBackground.await()
        }
        for (_ <- 1 to 10) {
          val read = it.deltasRead()
          InBackground.await()
          // Each partition reads up to three; format v1 looks at the head of the snapshot, too.
          assert(read <= 2 * (if (format == 1) 4 else 3), s"in run ${it.runs}")
          assert(it.files.size <= 2 * 12, s"after run ${it.runs}: ${it.files.sorted}")
        }
        it.requireRight()
      }
    }

  test("runs that are cut off within each snapshot: all is readable, and nothing is left of them") {
    inFolder() { f =>
      val it = new Runs(f, 2)
      // As if the process died: a temporary file stays.
      f.faults.plan.fail(Failure.Late)(on("close", "state/.*snapshot"))
      for (_ <- 1 to 10) {
        it.run(1)
        InBackground.await()
      }
      assert(f.faults.plan.hasFailed)
      assert(!it.files.exists(_.endsWith(".snapshot")) && it.files.exists(_.endsWith(".tmp")))
      f.faults.plan.clear()
      for (_ <- 1 to 12) {
        it.run(1)
        InBackground.await()
      }
      assert(it.files.forall(!_.endsWith(".tmp")) && it.files.size <= 2 * 12)
      it.requireRight()
    }
  }

  test("a run goes on and ends beside the snapshot of an earlier one") {
    inFolder() { f =>
      val it = new Runs(f, 2)
      it.run(3)
      val gate = f.faults.plan.hold(on("close", "state/.*snapshot"))
      it.run(1)
      gate.awaitArrival()
      it.run(1)
      it.requireRight()
      gate.open()
      InBackground.await()
      assert(it.files.count(_.matches("0/3.*snapshot|1/3.*snapshot")) >= 1)
      it.run(2)
      it.requireRight()
    }
  }

  test("200 partitions that are due at once: one snapshot at a time, by one thread") {
    inFolder() { f =>
      // The fixture makes rows for one thread at a time.
      val rows = (1 to 3).map(v => v -> (f.key("k", v.toLong), f.value(v.toLong))).toMap
      val providers = (0 until 200).map { p =>
        def commit(of: StateStoreProvider, v: Int) = {
          val store = of.getStore(v - 1L)
          val (key, value) = rows(v)
          store.put(key, value)
          store.commit()
        }
        val before = f.provider(partition = p)
        for (v <- 1 to 2) commit(before, v)
        before.close()
        val provider = f.provider(hadoop = f.faults.settings, partition = p)
        (provider, () => commit(provider, 3))
      }
      val threads = new ConcurrentLinkedQueue[String]
      val (now, most) = (new AtomicInteger, new AtomicInteger)
      f.faults.plan.decide { call =>
        if (on("create", ".*snapshot.tmp")(call)) {
          threads.add(Thread.currentThread.getName)
          most.accumulateAndGet(now.incrementAndGet(), math.max(_, _))
        }
        if (on("close", ".*snapshot")(call)) now.addAndGet(-1)
        None
      }
      val tasks = providers.grouped(50).map(of => new Running(of.foreach(_._2()))).toSeq
      tasks.foreach(_.result())
      InBackground.await()
      assert(threads.size == 200 && threads.asScala.toSet == Set("keyfold-maintenance"))
      assert(most.get == 1)
      providers.foreach(_._1.close())
    }
  }

  private def on(what: String, path: String): FileCall => Boolean =
    call => call.what == what && call.path.matches(path)
}
