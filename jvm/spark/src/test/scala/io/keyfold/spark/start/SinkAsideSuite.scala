package io.keyfold.spark.start

import java.nio.file.{Files, Path}
import java.util.UUID

import scala.collection.mutable

import io.keyfold.errors.RescaleRefused
import org.apache.spark.sql.DataFrame

/** Queries and file sinks that go back, one without the other, or belong to another query. */
class SinkAsideSuite extends FileSinkQueries {
  for (format <- Seq(1, 2)) {
    test(s"format $format: a query goes back without its sink, then the sink follows") {
      val it = new Distinct(format)
      it.run(4)
      it.rollback(1, withSink = false)
      val said = it.refused()
      assert(said.contains(it.command(1)))
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

  test("a new folder after batches that ran again without the sink") {
    val it = new Distinct(2)
    it.run(4)
    it.rollback(1, withSink = false)
    it.goOnWithoutSink()
    it.out = it.out.resolveSibling("out two")
    it.run(2)
    assert(it.rows == it.numbers.takeRight(6))
  }

  test("a sink that goes by the query's id takes the batches that run again after a rollback") {
    val it = new Distinct(2)
    val found = mutable.Map.empty[(String, Long), Seq[Int]]
    def id = Files.readString(Path.of(it.checkpoint, "metadata"))
    def write(rows: DataFrame, batch: Long): Unit =
      if (!found.contains(id -> batch)) found(id -> batch) = rows.collect().toSeq.map(_.getInt(0))
    for (_ <- 1 to 3) {
      it.add()
      it.goOnInto(write)
    }
    val first = id
    it.undo(it.rollback(0, withSink = false)("aside"))
    assert(id == first)
    it.rollback(0, withSink = false)
    it.goOnInto(write)
    val again = found.collect { case ((`first`, 0), rows) => rows } ++
      found.collect { case ((of, _), rows) if of != first => rows }
    assert(again.flatten.toSeq.sorted == it.numbers)
  }

  test("a rollback that broke off when the query had a new id, and all its batches, is undone") {
    val it = new Distinct(2)
    it.run(3)
    val metadata = Path.of(it.checkpoint, "metadata")
    val first = Files.readString(metadata)
    val name = s"rollback-0-${UUID.randomUUID}"
    val aside = Files.createDirectories(Path.of(it.checkpoint, "keyfold", name))
    Files.copy(metadata, aside.resolve("metadata"))
    Files.copy(Path.of(it.checkpoint, "offsets", "0"), aside.resolve("base"))
    overwrite(metadata, s"""{"id":"${UUID.randomUUID}"}""")
    it.undo(ujson.Str(name))
    assert(Files.readString(metadata) == first)
    it.run()
    it.check()
  }

  test("a sink whose commit protocol makes no log is not compared with the checkpoint") {
    val it = new Distinct(
      2,
      "spark.sql.streaming.commitProtocolClass" ->
        "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol"
    )
    it.run(3)
    assert((0 to 2).forall(batch => !Files.exists(it.entry(s"$batch"))))
  }
}
