package io.keyfold.spark.start

import java.io.File
import java.nio.file.{Files, Path}

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.testkit.Failure
import org.apache.commons.io.FileUtils

/** A sink's log that is ahead of its checkpoint or behind, after the driver's end, a rollback, its
  * undo or a rescale: what the start says makes the query go on, and each row is in the output
  * once.
  */
class FileSinkSuite extends FileSinkQueries {
  for (batches <- Seq(0, 2))
    test(s"format 2: a driver ends between the sink's commit of batch $batches and the query's") {
      val it = new Distinct(2)
      it.run(batches)
      it.leaveOpen()
      it.run(2)
      it.check()
    }

  test("format 1: a driver ends between sink and commit log; the state is there") {
    val it = new Distinct(1)
    it.run(2)
    it.leaveOpen()
    it.run(2)
    it.check()
  }

  test("format 1, then 2: a driver ends between sink and commit log; the state gets ids") {
    val it = new Distinct(1)
    it.run(2)
    it.leaveOpen()
    it.session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    it.run(2)
    it.check()
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

  for (batches <- Seq(2, 3, 7))
    test(s"a query goes on with a new folder after $batches batches, and its log can be read") {
      val it = new Distinct(2, interval -> "3")
      it.run(batches)
      val before = it.rows.toSet
      it.out = it.out.resolveSibling("out two")
      it.run(7)
      assert(it.rows == it.numbers.filterNot(before))
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

  test("a start takes nothing out of the log of another query, though its last entries are empty") {
    val it = new Distinct(2)
    it.run(3)
    val (own, copy) = (it.checkpoint, it.checkpoint + "-copy")
    FileUtils.copyDirectory(new File(own), new File(copy))
    it.run(2)
    overwrite(it.entry("4"), "v1")
    val before = it.entries
    it.checkpoint = copy
    it.refused()
    assert(it.entries == before)
    it.checkpoint = own
    it.run()
  }

  test("the batch of a rescale is entered, though the query has gone on without the extension") {
    val it = new Distinct(2)
    it.run(2)
    AdminApi.rescale(it.session, it.checkpoint, 5, dryRun = false)
    it.run()
    Files.delete(it.entry("2"))
    it.run(8)
    it.check()
  }

  test("a rollback over a rescale after which the query was not started takes the sink's log too") {
    val it = new Distinct(2)
    it.run(4)
    AdminApi.rescale(it.session, it.checkpoint, 5, dryRun = false)
    it.rollback(1)
    it.run()
    it.check()
  }

  test("a clone goes on after two rescales that the sink's log does not have") {
    val it = new Distinct(2)
    it.run(2)
    for (to <- Seq(5, 4)) AdminApi.rescale(it.session, it.checkpoint, to, dryRun = false)
    val copy = it.checkpoint + "-clone"
    AdminApi.cloneCheckpoint(it.session, it.checkpoint, copy, -1, dryRun = false)
    it.checkpoint = copy
    it.run()
    it.check()
  }

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

  test(
    "rescales whose batches should have compacted the sink's log, and an interval made shorter"
  ) {
    val it = new Distinct(2)
    it.run(2)
    for (to <- Seq(5, 4)) AdminApi.rescale(it.session, it.checkpoint, to, dryRun = false)
    it.session.conf.set(interval, "3")
    it.run()
    it.check()
    it.run(7)
    it.check()
  }

  for (format <- Seq(1, 2))
    test(s"a rescale that is undone after a start has entered its batch, format $format") {
      val it = new Distinct(format)
      it.run(2)
      AdminApi.rescale(it.session, it.checkpoint, 5, dryRun = false)
      it.goOn()
      assert(Files.exists(it.entry("2")))
      it.rollback(1, withSink = false)
      it.run(2)
      it.check()
    }

  test("a rescale in a copy from before later batches, whose output the sink's log has") {
    val it = new Distinct(2)
    it.run(3)
    val copy = Path.of(s"${it.checkpoint}-copy")
    FileUtils.copyDirectory(new File(it.checkpoint), copy.toFile)
    it.run()
    it.checkpoint = copy.toString
    AdminApi.rescale(it.session, it.checkpoint, 5, dryRun = false)
    it.goesBack(2)
    it.run()
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

  for (withSink <- Seq(true, false))
    test(s"a rollback is undone though an earlier one was of another folder; sink: $withSink") {
      val it = new Distinct(2)
      it.run(6)
      it.rollback(2)
      val first = it.rows
      it.out = it.out.resolveSibling("out two")
      it.run(3)
      val aside = it.rollback(3, withSink)("aside")
      it.undo(aside)
      it.run()
      assert((first ++ it.rows).sorted == it.numbers)
    }

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

  for (provider <- ProviderClass.BuiltIn)
    test(
      s"an older copy of a checkpoint of ${provider.split('.').last}, which Keyfold is set for"
    ) {
      val it = new Distinct(1, CheckpointLogs.ProviderKey -> provider)
      it.run(3)
      val copy = Path.of(s"${it.checkpoint}-copy")
      FileUtils.copyDirectory(new File(it.checkpoint), copy.toFile)
      it.run(2)
      it.checkpoint = copy.toString
      it.session.conf.set(CheckpointLogs.ProviderKey, ProviderClass.Keyfold)
      val said = it.refused()
      assert(
        said.contains(s"move the entries of later batches out of file:${it.out}/_spark_metadata")
      )
      for (batch <- 3 to 4) Files.delete(it.entry(s"$batch"))
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
    assert(error.getMessage.contains(s"$elsewhere has no log of a file sink"))
  }
}
