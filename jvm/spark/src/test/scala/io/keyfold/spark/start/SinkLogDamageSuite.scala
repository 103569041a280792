package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.admin.AdminApi

/** Entries of the checkpoint's logs, and the newest of its sink's, that are lost or damaged: the
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
    assert(error.getMessage.contains("--to-batch 6 --apply"))
  }

  test("a rescale whose batch compacts the sink's log by the settings of the query only") {
    val it = new Distinct(2)
    it.run(2)
    AdminApi.rescale(it.session, it.checkpoint, 5, dryRun = false)
    assert(Files.notExists(it.entry("2")))
    it.session.conf.set(interval, "3")
    it.run(8)
    it.check()
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

  test("the last entry of the sink's log and the commit of the batch before are lost") {
    val it = new Distinct(2)
    it.run(6)
    Files.delete(it.entry("5"))
    Files.delete(Path.of(it.checkpoint, "commits", "4"))
    assert(it.refused("KEYFOLD_SINK_BEHIND").contains(it.command(3)))
    val error = intercept[RescaleRefused](it.rollback(3))
    assert(error.getMessage.contains("--to-batch 3 --apply"))
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
        assert(error.getMessage.contains(s"--to-batch $to --apply"))
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

  for (log <- Seq("commits", "offsets"))
    test(s"the newest entry of $log is torn: the start names it, and goes on without it") {
      val it = new Distinct(2)
      it.run(3)
      val entry = Path.of(it.checkpoint, log, "2")
      overwrite(entry, "v2\n")
      val said = it.refused("KEYFOLD_CHECKPOINT_DAMAGED")
      assert(said.contains(s"$log/2"))
      if (log == "offsets") {
        // Begun anew, the batch might have more input, which a sink that has the batch would not take.
        assert(said.contains("keyfold fsck") && !said.contains("delete"))
        it.rollback(1)
      } else {
        // The sink has the batch: it is run for its state.
        assert(said.contains("delete it instead"))
        Files.delete(entry)
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
