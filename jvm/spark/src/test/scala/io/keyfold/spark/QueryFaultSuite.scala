package io.keyfold.spark

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable

import io.keyfold.format.FileKind
import io.keyfold.model.VersionId
import io.keyfold.testkit.{Failure, FileCall, FileContents, LocalBlobStore}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** Whole queries that meet failing files: what they count is right after all. */
class QueryFaultSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  import ProviderFixture.inFolder

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(20.seconds, 10.millis)

  /** A query that counts values, and is started again as often as a test wants. */
  private class Counts(f: ProviderFixture, format: Int, confs: (String, String)*) {
    private val session = spark
    import session.implicits._

    private val input = MemoryStream[Int](session)
    private val added = mutable.Buffer.empty[Int]

    /** How often a batch is computed: each time is an attempt at its state. */
    var times = 1
    private val counted = mutable.Map.empty[Int, Long]

    def add(values: Int*): Unit = {
      added ++= values
      input.addData(values)
      ()
    }

    def start(): StreamingQuery = {
      val settings = f.faults.settings ++ Map(
        "spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString,
        "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "2",
        "spark.sql.streaming.stateStore.keyfold.snapshotAfterShare" -> "1000",
        "spark.sql.streaming.minBatchesToRetain" -> "2"
      ) ++ confs
      settings.foreach { case (key, value) => session.conf.set(key, value) }
      input
        .toDF()
        .groupBy("value")
        .count()
        .writeStream
        .outputMode("update")
        .option("checkpointLocation", f.root.toString)
        .foreachBatch((batch: DataFrame, _: Long) => (1 to times).foreach(_ => collect(batch)))
        .start()
    }

    private def collect(batch: DataFrame): Unit =
      counted ++= batch.as[(Int, Long)].collect()

    /** Starts it, gives it batches of these values, and stops it. */
    def run(batches: Seq[Int]*): Unit = {
      val query = start()
      try
        for (values <- batches) {
          add(values: _*)
          query.processAllAvailable()
        }
      finally query.stop()
    }

    /** Gives it these values, of which it dies. */
    def die(values: Int*): Unit = {
      val query = start()
      add(values: _*)
      intercept[StreamingQueryException](query.processAllAvailable())
      query.stop()
    }

    def requireRight(): Unit = {
      val expected = added.groupBy(identity).map { case (value, all) => value -> all.size.toLong }
      assert(counted == expected)
      ()
    }
  }

  private def on(what: String, path: String): FileCall => Boolean =
    call => call.what == what && call.path.matches(path)

  for ((format, rename) <- Seq((1, "replaces"), (2, "replaces"), (2, "does not replace")))
    test(s"format v$format: the delta of a failed batch appears late; a rename $rename (fault 2)") {
      inFolder() { f =>
        val counts = new Counts(f, format)
        def doNotReplace(): Unit =
          if (rename != "replaces") f.faults.plan.fail(Failure.Taken)(_.what == "rename")
        counts.run(Seq(3))
        f.faults.plan.fail(Failure.Late)(on("close", "state/.*/2.*delta"))
        counts.die(3, 2)
        f.faults.plan.clear()
        doNotReplace()
        assert(f.faults.closeLate() > 0)
        counts.run(Seq(3, 1), Seq(4))
        counts.run(Seq(3, 2, 1), Seq(5))
        counts.requireRight()
      }
    }

  for ((format, log) <- Seq((1, "commits"), (2, "commits"), (2, "offsets")))
    test(s"format v$format: a query that cannot write to the log of $log goes on when it can") {
      inFolder() { f =>
        val counts = new Counts(f, format)
        counts.run(Seq(3))
        f.faults.plan.fail(Failure.Late)(on("close", s"$log/1"))
        counts.die(3, 2)
        f.faults.plan.clear()
        counts.run(Seq(3, 1), Seq(4))
        counts.run(Seq(1))
        counts.requireRight()
      }
    }

  for (format <- Seq(1, 2))
    test(
      s"format v$format: a task that fails between its file and its word counts once (fault 4)"
    ) {
      inFolder() { f =>
        val counts = new Counts(f, format)
        counts.run(Seq(3, 1))
        val failures = new AtomicInteger
        f.faults.plan.fail(Failure.After) { call =>
          on("rename", "state/.*/[23].*delta")(call) && failures.incrementAndGet() <= 2
        }
        counts.run(Seq(3, 2), Seq(1, 2))
        assert(failures.get > 2)
        f.faults.plan.clear()
        counts.run(Seq(3))
        counts.requireRight()
      }
    }

  for (format <- Seq(1, 2))
    test(s"format v$format: a batch that is computed twice has two attempts, and counts once") {
      inFolder() { f =>
        val counts = new Counts(f, format)
        counts.times = 2
        counts.run(Seq(3, 1), Seq(3, 2), Seq(1))
        counts.run(Seq(2, 3))
        counts.requireRight()
      }
    }

  test("format v2: heads build on the attempts that the commit log names, over a restart") {
    inFolder() { f =>
      val counts = new Counts(f, 2, "spark.sql.streaming.minBatchesToRetain" -> "100")
      counts.times = 2
      counts.run(Seq(3, 1), Seq(3, 2))
      counts.run(Seq(1), Seq(2, 3))
      for (partition <- 0 to 1) {
        val ids =
          (0L to 3L).map(it => VersionId(it + 1, winner(f, it, partition)).written).distinct
        val head = FileContents.read(
          new LocalBlobStore(f.root),
          s"state/0/$partition/${FileKind.Delta.nameOf(ids.last)}"
        )
        val lineage = head.footer.lineage.map(_.version)
        assert(lineage.nonEmpty && ids.reverse.tail.startsWith(lineage))
        val attempts = s"${ids.last.version}_"
        assert(f.root.resolve(s"state/0/$partition").toFile.list.count(_.startsWith(attempts)) == 2)
      }
      counts.requireRight()
    }
  }

  /** Id in the commit log of the state that a batch has left in a partition. */
  private def winner(f: ProviderFixture, batch: Long, partition: Int): String = {
    val json = Files.readAllLines(f.root.resolve(s"commits/$batch")).get(1)
    ujson.read(json)("stateUniqueIds")("0")(partition)(0).str
  }

  test(
    "format v2: snapshots that are closed after the query went on are not in its way (fault 3)"
  ) {
    inFolder() { f =>
      val interval = "spark.sql.streaming.stateStore.maintenanceInterval"
      val counts = new Counts(f, 2, interval -> "20")
      f.faults.plan.fail(Failure.Late)(on("close", ".*snapshot"))
      counts.run(Seq(3), Seq(3, 2), Seq(3, 1), Seq(1))
      eventually(assert(f.faults.plan.hasFailed))
      f.faults.plan.clear()
      counts.run(Seq(1))
      assert(f.faults.closeLate() > 0)
      counts.run(Seq(3, 1, 4), Seq(4))
      counts.run(Seq(2))
      counts.requireRight()
    }
  }
}
