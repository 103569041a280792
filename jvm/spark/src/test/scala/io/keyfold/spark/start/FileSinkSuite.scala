package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import scala.annotation.nowarn
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.spark.{FileFaults, KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.conf.ProviderClass
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

  private val interval = "spark.sql.streaming.fileSink.log.compactInterval"

  /** Distinct numbers of files, each of which is a batch, and so can be read again. */
  private class Distinct(format: Int, confs: (String, String)*) {
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

    private def writer: DataStreamWriter[_] = session.readStream
      .schema("value int")
      .option("maxFilesPerTrigger", 1)
      .csv(in.toString)
      .transform(changed)
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

    /** Runs what there is, and writes it nowhere. */
    def goOnWithoutSink(): Unit = end(writer.format("noop"))

    /** A batch that is begun, and fails. */
    def failWithoutSink(): Unit = {
      faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("commits/"))
      intercept[StreamingQueryException](end(writer.format("noop")))
      faults.plan.clear()
    }

    /** A batch whose output is committed, and whose state is not. */
    def leaveOpen(): Unit = {
      faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("commits/"))
      intercept[StreamingQueryException](run())
      faults.plan.clear()
    }

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
  private def overwrite(file: Path, content: String): Unit = {
    Files.writeString(file, content)
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    ()
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
    it.goesBackAndOn(1)
  }

  test("format 1: a driver ends between sink and commit log; the state is there") {
    val it = new Distinct(1)
    it.run(2)
    it.leaveOpen()
    it.run(2)
    it.check()
  }

  test("format 1: the state of a batch is there although all commits are lost") {
    val it = new Distinct(1)
    it.run(3)
    it.leaveOpen()
    Seq(0, 1, 2).foreach(batch => Files.delete(Path.of(it.checkpoint, "commits", s"$batch")))
    it.run()
    it.check()
  }

  test("format 1, then 2: a driver ends between sink and commit log; the state is not found") {
    val it = new Distinct(1)
    it.run(2)
    it.leaveOpen()
    it.session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    assert(it.refused().contains("noop"))
    it.onceWithoutSink()
    it.run()
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
    assert(Files.exists(it.entry("5.compact")))
    it.rollback(3)
    it.run(4)
    it.check()
    Files.delete(it.entry("6"))
    val error = intercept[RescaleRefused](it.rollback(6))
    assert(error.getMessage.contains("has compacted the batches before it"))
    assert(error.getMessage.contains("--to-batch 6 --no-file-sink --apply"))
  }

  for (format <- Seq(1, 2))
    test(s"format $format: a rollback is not undone before a later one that took only the sink") {
      val it = new Distinct(format)
      it.run(4)
      val first = it.rollback(1, withSink = false)("aside")
      val second = it.rollback(1)("aside")
      val error = intercept[RescaleRefused](it.undo(first))
      assert(error.getMessage.contains("would lack batch 2"))
      assert(error.getMessage.contains(s"undo the later rollback ${second.str} first"))
      it.undo(second)
      it.undo(first)
      it.run()
      it.check()
    }

  test("a rollback that took only the sink is not undone once the query has run") {
    val it = new Distinct(2)
    it.run(4)
    it.rollback(1, withSink = false)
    val aside = it.rollback(1)("aside")
    it.run()
    val error = intercept[RescaleRefused](it.undo(aside))
    assert(error.getMessage.contains("has run since"))
    it.check()
  }

  test("a batch that ran without its sink: the start is refused, and the query goes back") {
    val it = new Distinct(2)
    it.run(2)
    it.leaveOpen()
    it.onceWithoutSink()
    it.add()
    it.onceWithoutSink()
    val said = it.refused("KEYFOLD_SINK_BEHIND")
    assert(said.contains(it.command(2)))
    it.rollback(2)
    it.run()
    it.check()
  }

  test("the sink of another query is refused, or can be put back: its query does not start") {
    val it = new Distinct(2)
    val other = new Distinct(2)
    it.run(3)
    other.run(2)
    // Behind this query, and ahead of it.
    for (there <- 2 to 4) {
      if (there != 3) {
        val error = intercept[RescaleRefused](it.rollback(0, sink = other.out))
        assert(error.getMessage.contains("it is the log of another query"))
      }
      other.run()
    }
    other.rollback(2)
    val taken = it.rollback(0, sink = other.out)("aside").str
    val said = other.refused("KEYFOLD_SINK_BEHIND")
    val place = other.out.resolve("_keyfold").resolve(taken).resolve("_spark_metadata")
    assert(said.contains(s"move the files in file:$place to file:${other.out}/_spark_metadata"))
    Files.list(place).forEach { entry =>
      Files.move(entry, other.out.resolve("_spark_metadata").resolve(entry.getFileName))
      ()
    }
    other.run()
    other.check()
  }

  test("a rescale whose batch compacts the sink's log by the settings of the query only") {
    val it = new Distinct(2)
    it.run(2)
    AdminApi.rescale(it.session, it.checkpoint, 5, it.out.toString)
    assert(Files.exists(it.entry("2")))
    it.session.conf.set(interval, "3")
    it.run(8)
    it.check()
  }

  for (batches <- Seq(2, 3, 7))
    test(s"a query goes on with a new folder after $batches batches, and its log can be read") {
      val it = new Distinct(2, interval -> "3")
      it.run(batches)
      val before = it.rows.toSet
      it.out = it.out.resolveSibling("out two")
      it.run(7)
      assert(it.rows == it.numbers.filterNot(before))
    }

  test("a folder whose log is lost is refused: its files would be hidden") {
    val it = new Distinct(2)
    it.run(2)
    val log = it.out.resolve("_spark_metadata")
    Files.move(log, it.out.resolveSibling("log"))
    assert(it.refused("KEYFOLD_SINK_BEHIND").contains("no log of them"))
    // Spark has made a new one, which is empty.
    Files.delete(log)
    Files.move(it.out.resolveSibling("log"), log)
    it.run()
    it.check()
  }

  test("entries that a rollback set aside are not advised once their batches have run again") {
    val it = new Distinct(2)
    it.run(5)
    it.rollback(2)
    it.run()
    Files.delete(it.entry("3"))
    val said = it.goesBack(2, "KEYFOLD_SINK_BEHIND")
    assert(!said.contains("move the files"))
    it.run()
    it.check()
  }

  test("an open batch, and a sink that is ahead by more: it goes back with its query") {
    val it = new Distinct(2)
    it.run(5)
    it.rollback(2, withSink = false)
    it.add()
    it.failWithoutSink()
    it.goesBackAndOn(2)
  }

  test("the undo of a rollback is refused where the sink's log has another entry") {
    val it = new Distinct(2)
    it.run(4)
    val aside = it.rollback(2)("aside")
    it.run()
    it.rollback(2, withSink = false)
    val error = intercept[RescaleRefused](it.undo(aside))
    assert(error.getMessage.contains("has another _spark_metadata/3 by now"))
    it.rollback(2)
    it.undo(aside)
    it.run()
    it.check()
  }

  test("a new checkpoint with the folder of another one is refused before it is written") {
    val it = new Distinct(2)
    it.run(2)
    it.checkpoint = s"${it.checkpoint} two"
    val said = it.refused()
    assert(said.contains("write to a new folder"))
    assert(!Files.exists(Path.of(it.checkpoint, "offsets")))
    it.out = it.out.resolveSibling("out two")
    it.goOn()
    it.check()
  }

  for (format <- Seq(1, 2))
    test(s"format $format: batches that ran again without the sink do not pass for those it has") {
      val it = new Distinct(format)
      it.run(4)
      it.rollback(1, withSink = false)
      // All that was taken back, as one batch.
      it.goOnWithoutSink()
      assert(it.refused().contains(it.command(2)))
      it.add()
      it.goOnWithoutSink()
      val said = it.goesBack(1, "KEYFOLD_SINK_STALE")
      assert(said.contains("Batches 2 to 3"))
      assert(said.contains("an entry of batch 2 with files"))
      it.run()
      it.check()
    }

  test("batches that ran again without the sink, some of them after one more rollback") {
    val it = new Distinct(2)
    it.run(6)
    it.rollback(4, withSink = false)
    it.goOnWithoutSink()
    it.rollback(2, withSink = false)
    for (_ <- 3 to 5) {
      it.goOnWithoutSink()
      it.add()
    }
    it.goesBackAndOn(2, "KEYFOLD_SINK_STALE")
  }

  test("a new folder after batches that ran again without the sink") {
    val it = new Distinct(2)
    it.run(4)
    it.rollback(1, withSink = false)
    it.goOnWithoutSink()
    it.out = it.out.resolveSibling("out two")
    it.run(2)
    assert(it.rows == it.numbers.takeRight(6))
  }

  private def damaged(what: String, damage: Path => Unit, batch: Int) =
    test(s"an entry of the sink's log that $what is found before Spark compacts the log") {
      val it = new Distinct(2)
      it.run(4)
      damage(it.entry(s"$batch"))
      Files.deleteIfExists(it.entry(s".$batch.crc"))
      val said = it.refused("KEYFOLD_SINK_DAMAGED")
      assert(said.contains(s"no entry of batch $batch that"))
      if (batch > 0) {
        assert(said.contains(it.command(batch.toLong - 1)))
        it.rollback(batch.toLong - 1)
      } else {
        assert(said.contains("write to a new folder"))
        it.out = it.out.resolveSibling("out two")
      }
      it.run()
      if (batch > 0) it.check()
    }

  damaged("is lost", Files.delete(_), batch = 2)
  damaged("is the first, and lost,", Files.delete(_), batch = 0)
  damaged("is empty", entry => { Files.write(entry, Array[Byte]()); () }, batch = 1)
  damaged(
    "is rotten in the middle",
    entry => {
      Files.writeString(entry, Files.readString(entry).replace("\"path\"", "\u0000\u0000"))
      ()
    },
    batch = 2
  )
  damaged(
    "is torn",
    entry => {
      val bytes = Files.readAllBytes(entry)
      Files.write(entry, bytes.take(bytes.length - 5))
      ()
    },
    batch = 3
  )

  test("a sink by way of a link is the same sink") {
    val it = new Distinct(2)
    it.run(4)
    val real = it.out
    val link = Files.createSymbolicLink(real.resolveSibling("link"), real)
    val first = it.rollback(2, sink = real)("aside")
    val second = it.rollback(1, sink = link)("aside")
    it.undo(second)
    it.undo(first)
    it.out = link
    it.run()
    it.out = real
    it.run()
    assert((0 to 5).forall(batch => Files.exists(it.entry(s"$batch"))))
  }

  test("the query's id in a file that is not whole: the start says so, and goes on without it") {
    val it = new Distinct(2)
    it.run(2)
    val metadata = Path.of(it.checkpoint, "metadata")
    Files.writeString(metadata, "{\"id\":\"47")
    Files.deleteIfExists(metadata.resolveSibling(".metadata.crc"))
    val key = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled"
    val said = it.refused("KEYFOLD_CHECKPOINT_DAMAGED")
    assert(said.contains(s"Or delete it, and set $key=false"))
    Files.delete(metadata)
    assert(it.refused("KEYFOLD_CHECKPOINT_DAMAGED").contains("is lost. The query was not started"))
    it.session.conf.set(key, "false")
    it.run()
    it.session.conf.unset(key)
    it.check()
  }

  test("a rollback asks for the sink of a query that writes to a file sink") {
    val it = new Distinct(2)
    it.run(3)
    val error = intercept[RescaleRefused](
      AdminApi.rollback(it.session, it.checkpoint, 1, null, dryRun = false)
    )
    assert(error.getMessage.contains("give its folder with --sink-path"))
    it.goOnWithoutSink()
    AdminApi.rollback(it.session, it.checkpoint, 1, null, dryRun = false)
  }

  test("an undone rollback restores what the start has noted of the sink") {
    val it = new Distinct(2)
    it.run(4)
    val aside = it.rollback(1, withSink = false)("aside")
    it.add()
    it.failWithoutSink()
    it.rollback(1, withSink = false)
    it.undo(aside)
    it.run()
    it.check()
  }

  test("a rescale at the start with a sink of another kind is not taken for a batch of before") {
    val it = new Distinct(2)
    it.run(5)
    it.rollback(2, withSink = false)
    it.session.conf.set(partitions, "5")
    it.goOnWithoutSink()
    it.session.conf.unset(partitions)
    it.add()
    it.goOnWithoutSink()
    it.goesBack(4, "KEYFOLD_SINK_BEHIND")
    it.goesBackAndOn(2, "KEYFOLD_SINK_STALE")
  }

  test("format 1: an open batch that ran without the sink is not one that the sink has") {
    val it = new Distinct(1)
    it.run(4)
    it.rollback(2, withSink = false)
    it.add()
    it.failWithoutSink()
    it.goesBackAndOn(2, "KEYFOLD_SINK_STALE")
  }

  test("two entries of the sink's log are lost, the newest and one before") {
    val it = new Distinct(2)
    it.run(5)
    Seq("4", "2").foreach(name => Files.delete(it.entry(name)))
    it.goesBack(3, "KEYFOLD_SINK_BEHIND")
    it.goesBackAndOn(1, "KEYFOLD_SINK_DAMAGED")
  }

  test("the sink is ahead, and an entry before is lost") {
    val it = new Distinct(2)
    it.run(5)
    it.rollback(3, withSink = false)
    Files.delete(it.entry("2"))
    it.goesBackAndOn(1, "KEYFOLD_SINK_DAMAGED")
  }

  test("an entry of the sink's log is lost, and the commit of the batch before") {
    val it = new Distinct(2)
    it.run(6)
    Files.delete(it.entry("3"))
    Files.delete(Path.of(it.checkpoint, "commits", "2"))
    it.goesBackAndOn(1, "KEYFOLD_SINK_DAMAGED")
  }

  test(
    "rescales whose batches should have compacted the sink's log, and an interval made shorter"
  ) {
    val it = new Distinct(2)
    it.run(2)
    for (to <- Seq(5, 4)) AdminApi.rescale(it.session, it.checkpoint, to, it.out.toString)
    it.session.conf.set(interval, "3")
    it.run()
    it.check()
    it.run(7)
    it.check()
  }

  test("a rollback is not undone into a gap of the sink's log, nor without its folder") {
    val it = new Distinct(2)
    it.run(5)
    val first = it.rollback(3)("aside")
    val second = it.rollback(2)("aside")
    assert(intercept[RescaleRefused](it.undo(first)).getMessage.contains("later rollback"))
    val moved = it.out.resolveSibling("moved")
    Files.move(it.out, moved)
    assert(intercept[RescaleRefused](it.undo(second)).getMessage.contains("does not exist"))
    Files.move(moved, it.out)
    it.undo(second)
    it.undo(first)
    it.run()
    it.check()
  }

  test("an inner compacted entry is lost, from which Spark would read on") {
    val it = new Distinct(2, interval -> "3")
    it.run(10)
    Seq("3", "4", "5.compact").foreach(name => Files.deleteIfExists(it.entry(name)))
    it.goesBackAndOn(2, "KEYFOLD_SINK_DAMAGED")
  }

  test("an entry that cannot be compacted is refused by name") {
    val it = new Distinct(2)
    it.run(3)
    val entry = it.entry("1")
    overwrite(entry, Files.readString(entry).replace("\"path\"", "\u0000\u0000"))
    it.session.conf.set(interval, "3")
    it.goesBackAndOn(0, "KEYFOLD_SINK_DAMAGED")
  }

  test("the last entry of the sink's log and the commit of the batch before are lost") {
    val it = new Distinct(2)
    it.run(6)
    Files.delete(it.entry("5"))
    Files.delete(Path.of(it.checkpoint, "commits", "4"))
    assert(it.refused("KEYFOLD_SINK_BEHIND").contains(it.command(3)))
    val error = intercept[RescaleRefused](it.rollback(3))
    assert(error.getMessage.contains("--to-batch 3 --no-file-sink --apply"))
    it.rollback(3, withSink = false)
    it.goesBackAndOn(3)
  }

  /** Damage to entries of Spark's logs that the next batch does not need. */
  private def torn(path: String, content: String, to: Long) =
    test(s"the last entry of the sink's log is lost, and $path has only '${content.trim}'") {
      val it = new Distinct(2)
      it.run(6)
      Files.delete(it.entry("5"))
      val entry = Path.of(it.checkpoint).resolve(path)
      overwrite(entry, content)
      assert(it.refused("KEYFOLD_SINK_BEHIND").contains(it.command(to)))
      if (to == 4) it.rollback(to)
      else {
        val error = intercept[RescaleRefused](it.rollback(to))
        assert(error.getMessage.contains(s"--to-batch $to --no-file-sink --apply"))
        it.rollback(to, withSink = false)
        it.goesBack(to)
      }
      it.run()
      it.check()
    }

  torn("offsets/1", "v1\n{", to = 4)
  torn("offsets/3", "v1\n{", to = 2)
  torn("commits/4", "v2\n", to = 3)
  torn("commits/4", "", to = 3)

  test("format 1: commits before an open batch are lost, and the sink's entry of one") {
    val it = new Distinct(1)
    it.run(4)
    it.leaveOpen()
    Files.delete(Path.of(it.checkpoint, "commits", "3"))
    Seq("3", "4").foreach(entry => Files.delete(it.entry(entry)))
    it.refused("KEYFOLD_SINK_BEHIND")
    it.rollback(2, withSink = false)
    it.run()
    it.check()
  }

  test("format 1: all commits are lost, and the query goes on in a new folder") {
    val it = new Distinct(1, interval -> "3")
    it.run(3)
    it.leaveOpen()
    Seq(0, 1, 2).foreach(batch => Files.delete(Path.of(it.checkpoint, "commits", s"$batch")))
    val before = it.rows.toSet -- (19 to 21)
    it.out = it.out.resolveSibling("out two")
    it.run(4)
    assert(it.rows == it.numbers.filterNot(before))
  }

  test("a rescale after a rollback, before the sink is of its kind again") {
    val it = new Distinct(2)
    it.run(6)
    it.goOnWithoutSink()
    it.rollback(2, withSink = false)
    AdminApi.rescale(it.session, it.checkpoint, 5, "")
    for (_ <- 1 to 2) {
      it.add()
      it.goOnWithoutSink()
    }
    it.goesBackAndOn(2, "KEYFOLD_SINK_STALE")
  }

  test("a migrated query that has run, and whose sink's log lacks the migration's batch") {
    val it = new Distinct(1)
    val provider = "spark.sql.streaming.stateStore.providerClass"
    val own = it.session.conf.get(provider)
    it.session.conf.set(provider, ProviderClass.BuiltIn.head)
    it.run(2)
    it.session.conf.set(provider, own)
    AdminApi.migrate(it.session, it.checkpoint, it.out.toString, false)
    it.run(2)
    Files.delete(it.entry("2"))
    val said = it.refused("KEYFOLD_SINK_DAMAGED")
    assert(!said.contains("--undo") && said.contains("write to a new folder"))
  }

  test("the note of the sink is torn: the start says so, and what to do") {
    val it = new Distinct(2)
    it.run(3)
    val note = Path.of(it.checkpoint, "keyfold", "sink")
    overwrite(note, "v1\nfi")
    assert(it.refused("KEYFOLD_CHECKPOINT_DAMAGED").contains("keyfold/sink"))
    val error = intercept[Invalid](it.rollback(1))
    assert(error.condition == "KEYFOLD_CHECKPOINT_DAMAGED")
    Files.delete(note)
    it.run()
    it.check()
  }

  test("without state: batches that ran again without the sink do not pass for those it has") {
    val it = new Distinct(2) {
      override def changed(rows: DataFrame): DataFrame = rows
    }
    it.run(5)
    it.rollback(2, withSink = false)
    it.goOnWithoutSink()
    it.add()
    it.goOnWithoutSink()
    it.goesBack(2, "KEYFOLD_SINK_STALE")
    it.run()
    assert(it.rows.distinct == it.numbers)
  }

  for (log <- Seq("commits", "offsets"))
    test(s"the newest entry of $log is torn: the start names it, and goes on without it") {
      val it = new Distinct(2)
      it.run(3)
      val entry = Path.of(it.checkpoint, log, "2")
      overwrite(entry, "v2\n")
      val said = it.refused("KEYFOLD_CHECKPOINT_DAMAGED")
      assert(said.contains(s"$log/2"))
      Files.delete(entry)
      if (log == "offsets") {
        assert(said.contains("delete it and commits/2 instead"))
        assert(said.contains("_spark_metadata/2"))
        Files.delete(Path.of(it.checkpoint, "commits", "2"))
        Files.delete(it.entry("2"))
      } else {
        assert(said.contains("delete it instead"))
        it.goesBack(1)
      }
      it.run()
      it.check()
    }

  for ((lost, isOpen) <- Seq(2 -> false, 3 -> false, 3 -> true))
    test(
      s"offsets/$lost is lost, which Spark needs to start: the start sends to fsck, open: $isOpen"
    ) {
      val it = new Distinct(2)
      it.run(4)
      if (isOpen) it.leaveOpen()
      Files.delete(Path.of(it.checkpoint, "offsets", s"$lost"))
      val said = it.refused("KEYFOLD_CHECKPOINT_DAMAGED")
      assert(said.contains(s"offsets/$lost, which") && said.contains("`keyfold fsck "))
      it.rollback(1)
      it.run()
      it.check()
    }

  test("all entries of the commit log are lost: the start sends to fsck") {
    val it = new Distinct(2)
    it.run(3)
    (0 to 2).foreach(batch => Files.delete(Path.of(it.checkpoint, "commits", s"$batch")))
    assert(it.refused().contains(s"`keyfold fsck file:${it.checkpoint}`"))
  }

  test("a rollback to a batch whose state is damaged sends to fsck") {
    val it = new Distinct(2)
    it.run(4)
    val state = Path.of(it.checkpoint, "state", "0", "0")
    Using.resource(Files.list(state)) { files =>
      files.iterator.asScala.filter(_.getFileName.toString.startsWith("3_")).foreach(Files.delete)
    }
    val error = intercept[RescaleRefused](it.rollback(2))
    assert(error.getMessage.contains("the state of batch 2 is not whole"))
    assert(error.getMessage.contains(s"`keyfold fsck file:${it.checkpoint}`"))
  }

  test("a rollback is undone though an earlier one was of another folder") {
    val it = new Distinct(2)
    it.run(6)
    it.rollback(2)
    val first = it.rows
    it.out = it.out.resolveSibling("out two")
    it.run(3)
    val aside = it.rollback(3)("aside")
    it.undo(aside)
    it.run()
    assert((first ++ it.rows).sorted == it.numbers)
  }

  private val partitions = "spark.sql.streaming.stateStore.keyfold.partitions"

  test("a query is rescaled at its start, which also begins a new folder") {
    val it = new Distinct(2)
    it.run(3)
    val before = it.rows.toSet
    it.out = it.out.resolveSibling("out two")
    it.session.conf.set(partitions, "5")
    it.run(3)
    assert(it.rows == it.numbers.filterNot(before))
  }

  test("a query that is to be rescaled at its start is not, if its sink is ahead") {
    val it = new Distinct(2)
    it.run(4)
    it.rollback(1, withSink = false)
    it.session.conf.set(partitions, "5")
    it.refused()
    assert(!Files.exists(Path.of(it.checkpoint, "offsets", "2")))
    it.rollback(1)
    it.run()
    it.check()
  }

  test("a rescale that broke off after its batch came into the sink's log is finished first") {
    val it = new Distinct(2)
    it.run(2)
    it.session.conf.set(partitions, "5")
    it.faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path == "commits/2")
    intercept[Exception](it.goOn())
    it.faults.plan.clear()
    it.session.conf.unset(partitions)
    it.refused("KEYFOLD_RESCALE_UNFINISHED")
    it.session.conf.set(partitions, "5")
    it.run()
    it.check()
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
