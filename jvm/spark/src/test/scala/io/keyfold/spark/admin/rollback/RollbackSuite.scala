package io.keyfold.spark.admin.rollback

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.{Failure, Try}

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.spark.{FileFaults, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.testkit.{Failure => FileFailure}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.StateStores
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** A query goes back to a batch before a rescale, and on from there; or back to where it was. */
class RollbackSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(20.seconds, 10.millis)

  /** Counts numbers of files, each of which is a batch, and so can be read again. */
  private class Counts(format: Int) {
    val root: Path = Files.createTempDirectory("keyfold-rollback")
    val checkpoint: String = root.resolve("checkpoint").toString
    private val in = Files.createDirectory(root.resolve("in"))
    val session = spark.newSession()
    private var files = 0
    val counted: mutable.Map[Int, Long] = mutable.Map.empty
    val faults = new FileFaults(checkpoint)
    (faults.settings ++ Map(
      "spark.sql.shuffle.partitions" -> "4",
      "spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString,
      "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "2",
      // Maintenance is called by the tests.
      SQLConf.STREAMING_MAINTENANCE_INTERVAL.key -> "3600000"
    )).foreach { case (key, value) => session.conf.set(key, value) }

    /** Runs batches of numbers. */
    def run(batches: Int, numbers: Range = 0 to 19): Unit = {
      for (_ <- 1 to batches) {
        files += 1
        val name = f"$files%04d.csv"
        val hidden = Files.write(root.resolve(name), numbers.mkString("\n").getBytes)
        Files.move(hidden, in.resolve(name))
      }
      val query = session.readStream
        .schema("value int")
        .option("maxFilesPerTrigger", 1)
        .csv(in.toString)
        .groupBy("value")
        .count()
        .writeStream
        .outputMode("update")
        .option("checkpointLocation", checkpoint)
        .foreachBatch { (batch: DataFrame, _: Long) =>
          batch.collect().foreach(row => counted(row.getInt(0)) = row.getLong(1))
        }
        .start()
      try query.processAllAvailable()
      finally query.stop()
    }

    def check(): Unit = {
      assert(counted == (0 to 19).map(_ -> files.toLong).toMap)
      ()
    }

    def rescale(to: Int): String = AdminApi.rescale(session, checkpoint, to, dryRun = false)
    def rollback(to: Long, dryRun: Boolean = false) =
      ujson.read(AdminApi.rollback(session, checkpoint, to, null, dryRun))

    def refusesUndo(aside: String): Unit = {
      val error = intercept[RescaleRefused](AdminApi.undoRollback(session, checkpoint, aside))
      assert(error.getMessage.contains("was set aside by a later rollback or made again"))
      ()
    }

    def lastBatch: Option[Long] = new CheckpointLogs(session, checkpoint).lastCommitted

    def partitions: Int = {
      val logs = new CheckpointLogs(session, checkpoint)
      logs.partitions(logs.lastCommitted.get).get
    }
  }

  for (format <- Seq(1, 2)) {
    test(
      s"format v$format: back to before a rescale, on from there, and rescaled again (fault 15)"
    ) {
      val it = new Counts(format)
      it.run(3)
      it.rescale(6)
      it.run(2)
      assert(it.lastBatch.contains(5L))
      val planned = it.rollback(to = 1, dryRun = true)
      assert(!planned("applied").bool && planned.obj.get("aside").isEmpty)
      val done = it.rollback(to = 1)
      assert(done("applied").bool && done("files") == planned("files"))
      assert(done("batch").num == 1 && done("from").num == 5)
      assert(it.lastBatch.contains(1L) && it.partitions == 4)
      it.run(1)
      it.check()
      assert(it.partitions == 4)
      it.rescale(3)
      it.run(1)
      it.check()
      assert(it.partitions == 3)
    }

    test(s"format v$format: a rollback is undone, and the query goes on with the new partitions") {
      val it = new Counts(format)
      it.run(2)
      it.rescale(6)
      it.run(1)
      val aside = it.rollback(to = 0)("aside").str
      AdminApi.undoRollback(it.session, it.checkpoint, aside)
      assert(it.lastBatch.contains(3L) && it.partitions == 6)
      it.run(1)
      it.check()
    }
  }

  for (left <- Seq("state/0/0", "offsets/2")) {
    test(s"a rollback is undone though a move has left its file in both places: $left (fault 9)") {
      val it = new Counts(format = 2)
      it.run(4)
      val checkpoint = Path.of(it.checkpoint)
      val aside = it.rollback(to = 1)("aside").str
      val folder = checkpoint.resolve("keyfold").resolve(aside)
      val file = Files.walk(folder.resolve(left)).filter(Files.isRegularFile(_)).findFirst.get
      Files.copy(file, checkpoint.resolve(folder.relativize(file)))
      AdminApi.undoRollback(it.session, it.checkpoint, aside)
      assert(it.lastBatch.contains(3L))
      it.run(1)
      it.check()
    }
  }

  for (format <- Seq(1, 2); place <- Seq("offsets/2", "offsets/3", "commits/3"))
    test(s"format v$format: a query that is started beside an undo, before $place is back") {
      val it = new Counts(format)
      it.run(4)
      val aside = it.rollback(to = 1)("aside").str
      val paused = it.faults.plan.hold(c => c.what == "rename" && c.path.startsWith(place))
      val undo = Future(Try(AdminApi.undoRollback(it.session, it.checkpoint, aside)))(
        ExecutionContext.global
      )
      paused.awaitArrival()
      it.run(1)
      it.check()
      paused.open()
      Await.result(undo, 1.minute) match {
        case Failure(e: Invalid) => assert(e.condition == "KEYFOLD_CONCURRENT_UPDATE")
        case other               => fail(s"it ended with $other")
      }
      it.run(1)
      it.check()
      // Refused, or with nothing left to put back.
      Try(AdminApi.undoRollback(it.session, it.checkpoint, aside))
      it.run(1)
      it.check()
    }

  test("an undo that breaks off at any write is finished by running it again") {
    def rolledBack() = {
      val it = new Counts(2)
      it.run(4)
      it.rescale(3)
      (it, it.rollback(to = 1)("aside").str)
    }
    val (whole, name) = rolledBack()
    whole.faults.plan.clear()
    AdminApi.undoRollback(whole.session, whole.checkpoint, name)
    val writes = whole.faults.plan.calls.filter(c => Set("rename", "delete")(c.what))
    assert(writes.exists(_.path.startsWith("offsets/")))
    for (number <- writes.indices) {
      val (it, aside) = rolledBack()
      val count = new AtomicInteger
      it.faults.plan.fail(FileFailure.Before) { c =>
        Set("rename", "delete")(c.what) && count.getAndIncrement() == number
      }
      intercept[Exception](AdminApi.undoRollback(it.session, it.checkpoint, aside))
      it.faults.plan.clear()
      AdminApi.undoRollback(it.session, it.checkpoint, aside)
      assert(it.lastBatch.contains(4L) && it.partitions == 3)
      it.run(1)
      it.check()
    }
  }

  for (format <- Seq(1, 2)) {
    test(s"format v$format: of two rollbacks, the second is undone first") {
      val it = new Counts(format)
      it.run(6)
      val first = it.rollback(to = 4)("aside").str
      val second = it.rollback(to = 2)("aside").str
      it.refusesUndo(first)
      assert(it.lastBatch.contains(2L))
      AdminApi.undoRollback(it.session, it.checkpoint, second)
      AdminApi.undoRollback(it.session, it.checkpoint, first)
      assert(it.lastBatch.contains(5L))
      it.run(1)
      it.check()
    }

    test(s"format v$format: a rollback to a batch that was made again cannot be undone") {
      val it = new Counts(format)
      it.run(4)
      val aside = it.rollback(to = 2)("aside").str
      it.rollback(to = 1)
      // Reads again what was taken back, in one batch.
      it.run(0)
      assert(it.lastBatch.contains(2L))
      it.refusesUndo(aside)
      it.run(1)
      it.check()
    }
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: a rescale that broke off is given up by a rollback") {
      val it = new Counts(format)
      it.run(2)
      it.rescale(6)
      Files.delete(Path.of(it.checkpoint, "commits", "2"))
      Files.deleteIfExists(Path.of(it.checkpoint, "commits", ".2.crc"))
      it.rollback(to = 1)
      it.run(1)
      it.check()
      assert(it.partitions == 4)
      it.rescale(3)
      it.run(1)
      it.check()
    }

  test("format v1: a snapshot of what was rolled back, late, is not read as the new rows") {
    val it = new Counts(1)
    it.run(6)
    it.rollback(to = 1)
    val gate = it.faults.plan.hold(c => c.what == "close" && c.path.endsWith("/5.snapshot"))
    // Spark maintains the stores of the stopped query once more.
    StateStores.maintain()
    gate.awaitArrival()
    // The next batch reads again what was taken back, and more.
    it.run(1, 0 to 39)
    it.run(3)
    assert(it.lastBatch.contains(5L))
    gate.open()
    eventually(assert(StateStores.isIdle))
    assert(
      (0 to 3).exists(p => Files.exists(Path.of(it.checkpoint, "state", "0", s"$p", "5.snapshot")))
    )
    StateStores.stop()
    it.run(1, 0 to 39)
    assert(it.counted == (0 to 39).map(n => n -> (if (n < 20) 11L else 2L)).toMap)
  }

  test("a batch that is not there, or a query that has run since, is refused") {
    val it = new Counts(2)
    it.run(3)
    for (batch <- Seq(-1L, 2L, 7L)) {
      assert(intercept[RescaleRefused](it.rollback(batch)).condition == "KEYFOLD_ROLLBACK_REFUSED")
    }
    val aside = it.rollback(to = 1)("aside").str
    it.run(1)
    val error = intercept[RescaleRefused](AdminApi.undoRollback(it.session, it.checkpoint, aside))
    assert(error.getMessage.contains("has run since"))
    it.check()
  }

  test("the oldest batch in the logs is refused: Spark could not start after it") {
    val it = new Counts(2)
    it.run(4)
    Files.delete(Path.of(it.checkpoint, "offsets", "0"))
    val error = intercept[RescaleRefused](it.rollback(1))
    assert(error.getMessage.contains("the oldest batch to go back to is 2"))
    it.rollback(2)
    it.run(1)
    it.check()
  }
}
