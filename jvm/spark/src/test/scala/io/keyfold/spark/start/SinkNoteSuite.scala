package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.spark.admin.AdminApi
import org.apache.spark.sql.DataFrame

/** Batches that ran without their file sink: their numbers do not pass for those that the sink has.
  */
class SinkNoteSuite extends FileSinkQueries {
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
}
