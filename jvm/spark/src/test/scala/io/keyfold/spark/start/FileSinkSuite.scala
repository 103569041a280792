package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import scala.annotation.nowarn

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.{FileFaults, KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.testkit.Failure
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

/** A query that writes to a file sink, whose log and checkpoint come apart: what its start says
  * makes it go on, and each row is in the output once.
  */
class FileSinkSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  /** Distinct numbers of files, each of which is a batch, and so can be read again. */
  private final class Distinct(format: Int, confs: (String, String)*) {
    private val root = Files.createTempDirectory("keyfold-sink")
    private val in = Files.createDirectory(root.resolve("in"))
    private val checkpoint = root.resolve("checkpoint").toString
    private val faults = new FileFaults(checkpoint)
    private var files = 0
    val out: Path = root.resolve("out put")
    val session = spark.newSession()
    (faults.settings ++ Map(
      "spark.sql.shuffle.partitions" -> "3",
      "spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString
    ) ++ confs).foreach { case (key, value) => session.conf.set(key, value) }

    def numbers: Seq[Int] = 0 until 10 + 3 * files

    def add(): Unit = {
      files += 1
      val hidden = Files.writeString(root.resolve("new"), numbers.mkString("\n"))
      Files.move(hidden, in.resolve(f"$files%04d.csv"))
      ()
    }

    private def writer: DataStreamWriter[_] = session.readStream
      .schema("value int")
      .option("maxFilesPerTrigger", 1)
      .csv(in.toString)
      .dropDuplicates("value")
      .writeStream
      .option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow)

    private def end(writer: DataStreamWriter[_]): Unit = writer.start().awaitTermination()

    /** Runs what there is, after adding a file. */
    def run(batches: Int = 1): Unit = for (_ <- 1 to batches) {
      add()
      goOn()
    }
    def goOn(): Unit = end(writer.format("csv").option("path", out.toString))

    @nowarn("cat=deprecation")
    def onceWithoutSink(): Unit = end(writer.format("noop").trigger(Trigger.Once()))

    /** A batch whose output is committed, and whose state is not. */
    def leaveOpen(): Unit = {
      faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("commits/"))
      intercept[StreamingQueryException](run())
      faults.plan.clear()
    }

    /** What the start says. */
    def refused(): String = {
      val error = intercept[IllegalArgumentException](goOn())
      assert(error.getMessage.startsWith("[KEYFOLD_SINK_AHEAD]"))
      error.getMessage
    }

    def rollback(to: Long, withSink: Boolean = true, dryRun: Boolean = false): ujson.Value = {
      val sink = if (withSink) out.toString else null
      ujson.read(AdminApi.rollback(session, checkpoint, to, sink, dryRun))
    }
    def command(to: Long) =
      s"keyfold rollback file:$checkpoint --to-batch $to --sink-path 'file:$out' --apply"
    def undo(aside: ujson.Value): String = AdminApi.undoRollback(session, checkpoint, aside.str)

    def check(): Unit = {
      val found: DataFrame = session.read.schema("value int").csv(out.toString)
      assert(found.collect().map(_.getInt(0)).sorted.toSeq == numbers)
      ()
    }
  }

  for (batches <- Seq(0, 2))
    test(
      s"format 2: a driver ends between sink and commit log of batch $batches; once without sink"
    ) {
      val it = new Distinct(2)
      it.run(batches)
      it.leaveOpen()
      it.add()
      assert(
        it.refused().contains("""start the query once with .format("noop").trigger(once=True)""")
      )
      it.onceWithoutSink()
      it.run()
      it.check()
    }

  test("format 2: a driver ends between sink and commit log; the sink goes back") {
    val it = new Distinct(2)
    it.run(2)
    it.leaveOpen()
    assert(it.refused().contains(it.command(1)))
    it.rollback(1)
    it.run()
    it.check()
  }

  test("format 1: a driver ends between sink and commit log; the state is there") {
    val it = new Distinct(1)
    it.run(2)
    it.leaveOpen()
    it.run(2)
    it.check()
  }

  for (format <- Seq(1, 2)) {
    test(s"format $format: a query goes back without its sink, then the sink follows") {
      val it = new Distinct(format)
      it.run(4)
      it.rollback(1, withSink = false)
      val said = it.refused()
      assert(said.contains(it.command(1)))
      assert(!said.contains("noop"))
      it.rollback(1)
      it.run()
      it.check()
    }

    test(s"format $format: a query goes back with its sink, and forward again") {
      val it = new Distinct(format)
      it.run(4)
      assert(it.rollback(1, dryRun = true)("files").num > 0)
      it.run()
      it.check()
      val first = it.rollback(3)
      val second = it.rollback(1)
      it.undo(second("aside"))
      it.undo(first("aside"))
      it.run()
      it.check()
      it.rollback(2)
      it.run(2)
      it.check()
    }
  }

  test("a sink goes back across compacted entries, and not where entries are missing") {
    val it = new Distinct(2, "spark.sql.streaming.fileSink.log.compactInterval" -> "3")
    it.run(6)
    val log = it.out.resolve("_spark_metadata")
    assert(Files.exists(log.resolve("5.compact")))
    it.rollback(3)
    it.run(4)
    it.check()
    Files.delete(log.resolve("6"))
    val error = intercept[RescaleRefused](it.rollback(6))
    assert(error.getMessage.contains("has compacted the batches before it"))
  }

  test("a folder that no file sink writes to is refused") {
    val it = new Distinct(2)
    it.run(2)
    val elsewhere = it.out.resolveSibling("elsewhere")
    val error = intercept[RescaleRefused](
      AdminApi.rollback(
        it.session,
        it.out.resolveSibling("checkpoint").toString,
        0,
        elsewhere.toString,
        false
      )
    )
    assert(error.getMessage.contains(s"$elsewhere of the file sink has no log"))
  }
}
