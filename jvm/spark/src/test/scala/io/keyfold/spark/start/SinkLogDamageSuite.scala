package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.conf.ProviderClass

/** Entries of a sink's log, or of the checkpoint's logs beside it, that are lost or damaged: the
  * start names them, and what makes the query go on with each row in the output once.
  */
class SinkLogDamageSuite extends FileSinkQueries {
  test("format 1: the state of a batch is there although all commits are lost") {
    val it = new Distinct(1)
    it.run(3)
    it.leaveOpen()
    Seq(0, 1, 2).foreach(batch => Files.delete(Path.of(it.checkpoint, "commits", s"$batch")))
    it.run()
    it.check()
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

  test("a rescale whose batch compacts the sink's log by the settings of the query only") {
    val it = new Distinct(2)
    it.run(2)
    AdminApi.rescale(it.session, it.checkpoint, 5, it.out.toString)
    assert(Files.exists(it.entry("2")))
    it.session.conf.set(interval, "3")
    it.run(8)
    it.check()
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
    "is a copy of another",
    entry => { Files.writeString(entry, Files.readString(entry.resolveSibling("2"))); () },
    batch = 3
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

  for ((format, isCopy) <- Seq(1 -> false, 2 -> false, 2 -> true))
    test(s"format $format: after a batch without data, the source's last entry is lost: $isCopy") {
      val it = new Distinct(format)
      it.run(3)
      it.session.conf.set(partitions, "5")
      it.goOn()
      it.session.conf.unset(partitions)
      val lost = Path.of(it.checkpoint, "sources", "0", "2")
      if (isCopy) overwrite(lost, Files.readString(lost.resolveSibling("1")))
      else Files.delete(lost)
      it.add()
      val said = it.refused("KEYFOLD_CHECKPOINT_DAMAGED")
      assert(
        said.contains(s"$lost, which Spark needs to start, is lost or that of") && said.contains(
          "`keyfold fsck "
        )
      )
      it.rollback(1)
      it.run()
      it.check()
    }

  test("an entry of the offset log is a copy of the one before") {
    val it = new Distinct(2)
    it.run(4)
    overwrite(
      Path.of(it.checkpoint, "offsets", "3"),
      Files.readString(Path.of(it.checkpoint, "offsets", "2"))
    )
    val said = it.refused("KEYFOLD_CHECKPOINT_DAMAGED")
    assert(said.contains("offsets/3 is the same as") && said.contains("`keyfold fsck "))
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
}
