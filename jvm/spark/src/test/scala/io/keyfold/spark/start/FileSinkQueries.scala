package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import scala.annotation.nowarn

import io.keyfold.spark.{FileFaults, KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.testkit.Failure
import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite

/** Queries that write to a file sink, whose log and checkpoint may come apart. */
trait FileSinkQueries extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  protected val partitions = "spark.sql.streaming.stateStore.keyfold.partitions"
  protected val interval = "spark.sql.streaming.fileSink.log.compactInterval"

  /** Distinct numbers of files, each of which is a batch, and so can be read again. */
  protected class Distinct(format: Int, confs: (String, String)*) {
    private val root = Files.createTempDirectory("keyfold-sink")
    private val in = Files.createDirectory(root.resolve("in"))
    private val original = root.resolve("checkpoint").toString
    var checkpoint: String = original
    val faults = new FileFaults(original)
    private var files = 0
    var out: Path = root.resolve("out put")
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

    protected def changed(rows: DataFrame): DataFrame = rows.dropDuplicates("value")
    protected def outputMode: String = "append"

    protected def named[T](writer: DataStreamWriter[T]): DataStreamWriter[T] = writer

    /** A stream of the files of a folder, one in each batch. */
    protected def filesOf(folder: Path): DataFrame = session.readStream
      .schema("value int")
      .option("maxFilesPerTrigger", 1)
      .csv(folder.toString)

    /** A folder with one file, of a number that the query does not have. */
    protected lazy val other: Path =
      Files
        .writeString(Files.createDirectory(root.resolve("other")).resolve("1.csv"), "-1")
        .getParent

    private def writer: DataStreamWriter[Row] = named(changed(filesOf(in)).writeStream)
      .outputMode(outputMode)
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

    /** Runs what there is, and writes it nowhere. */
    def goOnWithoutSink(): Unit = end(writer.format("noop"))

    /** A batch that is begun, and fails. */
    def failWithoutSink(): Unit = endingBeforeCommit(end(writer.format("noop")))

    /** Gives a function what there is. */
    def goOnInto(function: (DataFrame, Long) => Unit): Unit = end(writer.foreachBatch(function))

    /** The driver ends before the commit of the first batch that it runs. */
    def endingBeforeCommit(run: => Unit): Unit = {
      faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("commits/"))
      intercept[StreamingQueryException](run)
      faults.plan.clear()
    }

    /** A batch whose output is committed, and whose state is not. */
    def leaveOpen(): Unit = endingBeforeCommit(run())

    /** What the start says. */
    def refused(condition: String = "KEYFOLD_SINK_AHEAD"): String = {
      val error = intercept[IllegalArgumentException](goOn())
      assert(error.getMessage.startsWith(s"[$condition]"), error.getMessage)
      error.getMessage
    }

    def rollback(
        to: Long,
        withSink: Boolean = true,
        dryRun: Boolean = false,
        sink: Path = out
    ): ujson.Value = ujson.read(
      AdminApi.rollback(session, checkpoint, to, if (withSink) sink.toString else "", dryRun)
    )
    def command(to: Long) =
      s"keyfold rollback file:$checkpoint --to-batch $to --sink-path 'file:$out' --apply"
    def undo(aside: ujson.Value): String = AdminApi.undoRollback(session, checkpoint, aside.str)

    /** The start is refused, and names the command that takes query and sink back, which is run. */
    def goesBack(to: Long, condition: String = "KEYFOLD_SINK_AHEAD"): String = {
      val said = refused(condition)
      assert(said.contains(command(to)))
      rollback(to)
      said
    }

    /** And then each row is in the output once. */
    def goesBackAndOn(to: Long, condition: String = "KEYFOLD_SINK_AHEAD"): Unit = {
      goesBack(to, condition)
      run()
      check()
    }

    /** An entry of the sink's log. */
    def entry(name: String): Path = out.resolve("_spark_metadata").resolve(name)

    /** Names of the entries. */
    def entries: Set[String] = entry("").toFile.list.filter(_.head.isDigit).toSet

    /** The sink's output, sorted. */
    def rows: Seq[Int] = {
      val found: DataFrame = session.read.schema("value int").csv(out.toString)
      found.collect().map(_.getInt(0)).sorted.toSeq
    }

    def check(): Unit = {
      assert(rows == numbers)
      ()
    }
  }

  /** Without the checksum that Hadoop keeps beside a file. */
  protected def overwrite(file: Path, content: String): Unit = {
    Files.writeString(file, content)
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    ()
  }
}
