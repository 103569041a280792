package io.keyfold.spark

import java.util.concurrent.{CountDownLatch, CyclicBarrier, TimeUnit}

import scala.collection.mutable
import scala.concurrent.duration.DurationLong
import scala.concurrent.{Await, ExecutionContext, Future}

import io.keyfold.spark.admin.AdminApi
import io.keyfold.testkit.Gate
import org.apache.spark.TaskContext
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.scalatest.funsuite.AnyFunSuite

/** Queries that compute the state of a batch several times, one time after the other or at once. As
  * on Spark's own providers each time gives the same rows; and nothing is loaded that is in memory.
  */
class SeveralActionsSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import ProviderFixture.inFolder
  import SeveralActionsSuite._

  private val Batches = Seq(Seq(1, 2, 3, 4, 5, 6), Seq(1, 2, 11), Seq(2, 7, 8, 9), Seq(1, 9, 10))

  /** What is seen of a batch: its rows, however often. */
  private type Seen = Seq[(Int, Long)]

  /** Runs a query of whose batches `see` sees the rows, as expected.
    *
    * @param mode
    *   update, complete: the counts of values; append: each value once, given out while the store
    *   is still written
    * @param stopped
    *   called with the checkpoint when the query has stopped
    * @return
    *   versions loaded from files in all batches
    */
  private def run(
      format: Int,
      mode: String = "update",
      partitions: Int = 2,
      stopped: String => Any = identity
  )(see: DataFrame => Seq[Seen]): Long = inFolder() { f =>
    val session = spark
    import session.implicits._
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", format.toLong)
    session.conf.set("spark.sql.shuffle.partitions", partitions.toLong)
    val input = MemoryStream[Int](session)
    val seen = mutable.Buffer.empty[Seq[Seen]]
    val stream = input.toDF()
    val result = mode match {
      case "update"   => stream.groupBy("value").count()
      case "complete" => stream.groupBy("value").count().orderBy("value")
      case "append"   => stream.dropDuplicates("value").selectExpr("value", "1L AS count")
    }
    val query = result.writeStream
      .outputMode(mode)
      .option("checkpointLocation", f.root.toString)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        seen += see(batch)
        ()
      }
      .start()
    try {
      for (values <- Batches) {
        input.addData(values: _*)
        query.processAllAvailable()
      }
      for (i <- Batches.indices; rows <- seen(i)) assert(rows.sorted == expected(i, mode))
      assert(seen.length == Batches.length)
      val loads =
        for (batch <- query.recentProgress; operator <- batch.stateOperators)
          yield operator.customMetrics.get("keyfoldLoads").longValue
      query.stop()
      stopped(f.root.toString)
      loads.sum
    } finally query.stop()
  }

  private def expected(batch: Int, mode: String): Seen = {
    val all = Batches.take(batch + 1).flatten.groupBy(identity)
    mode match {
      case "update"   => Batches(batch).distinct.sorted.map(v => v -> all(v).length.toLong)
      case "complete" => all.keys.toSeq.sorted.map(v => v -> all(v).length.toLong)
      case "append"   =>
        (Batches(batch).toSet -- Batches.take(batch).flatten).toSeq.sorted.map(_ -> 1L)
    }
  }

  private def collect(batch: DataFrame): Seen =
    batch.collect().toSeq.map(row => row.getInt(0) -> row.getLong(1))

  for (format <- Seq(1, 2)) {
    for (times <- 2 to 3)
      test(s"format v$format: of $times actions on each batch none loads a version") {
        assert(run(format)(batch => (1 to times).map(_ => collect(batch))) == 0)
      }

    test(s"format v$format: complete mode with orderBy, which runs each batch twice, loads none") {
      assert(run(format, "complete")(batch => Seq(collect(batch))) == 0)
    }

    test(s"format v$format: a task that fails after its state is committed is repeated, no load") {
      val loads = run(format) { batch =>
        val rows = batch.rdd.mapPartitions { rows =>
          val all = rows.map(row => row.getInt(0) -> row.getLong(1)).toList
          if (TaskContext.get().attemptNumber() == 0) throw new IllegalStateException("once")
          all.iterator
        }
        Seq(rows.collect().toSeq)
      }
      assert(loads == 0)
    }

    test(s"format v$format: a thread that has no job group writes the same files") {
      def planned(checkpoint: String) =
        AdminApi.planOf(spark, checkpoint, 3).refusals.map(_.getMessage)
      run(format, stopped = it => assert(planned(it).isEmpty)) { batch =>
        var seen = Seq.empty[Seen]
        val other = new Thread(() => {
          spark.sparkContext.clearJobGroup()
          seen = Seq(collect(batch))
        })
        other.start()
        other.join()
        seen
      }
    }

    for (mode <- Seq("update", "append"))
      test(s"format v$format, $mode: one task has the state of one partition open twice") {
        run(format, mode) { batch =>
          val zipped = batch.rdd.zip(batch.rdd).collect().toSeq
          assert(zipped.forall { case (x, y) => x == y })
          Seq(zipped.map { case (row, _) => row.getInt(0) -> row.getLong(1) })
        }
      }

    test(s"format v$format: two actions at once, each of which ends after the other has begun") {
      run(format, "append", partitions = 1) { batch =>
        barrier = new CyclicBarrier(2)
        def action = Future {
          val rows = batch.rdd.mapPartitions { rows =>
            rows.zipWithIndex.map { case (row, i) =>
              if (i == 0) meet()
              row.getInt(0) -> row.getLong(1)
            }
          }
          rows.collect().toSeq
        }(ownThread)
        Seq(action, action).map(Await.result(_, (2 * WaitSeconds).seconds))
      }
    }
  }

  test("an action that was cancelled before the next one leads to no load") {
    val loads = run(format = 2, "append", partitions = 1) { batch =>
      val gate = new Gate
      val end = new CountDownLatch(1)
      held = gate
      ended = end
      val cancelled = batch.rdd.map { row =>
        TaskContext.get().addTaskCompletionListener[Unit](_ => ended.countDown())
        held.pass()
        row.getInt(0)
      }
      val running = cancelled.collectAsync()
      gate.awaitArrival()
      running.cancel()
      gate.open()
      assert(end.await(WaitSeconds, TimeUnit.SECONDS))
      Seq(collect(batch))
    }
    assert(loads == 0)
  }
}

private object SeveralActionsSuite {
  private val WaitSeconds = 30L

  /** A new thread has the query's settings, without which tasks report no ids. */
  private val ownThread = ExecutionContext.fromExecutor(new Thread(_).start())

  // Tasks find these here: they run in this process.
  @volatile var barrier: CyclicBarrier = _
  @volatile var held: Gate = _
  @volatile var ended: CountDownLatch = _

  /** Waits until the other action's task is here, too. */
  def meet(): Unit = {
    barrier.await(WaitSeconds, TimeUnit.SECONDS)
    ()
  }
}
