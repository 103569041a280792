package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.LineFacts
import org.apache.spark.sql.streaming.DataStreamWriter

/** Queries with nothing wrong that look unlike others: each of their starts goes on. */
class HealthyStartSuite extends FileSinkQueries {

  /** Spark has an offset for each use of a source, and a folder for each source. */
  test("one stream of files in two branches") {
    val it = new Distinct(2) {
      override def changed(rows: DataFrame): DataFrame =
        super.changed(rows.where("value % 2 = 0").union(rows.where("value % 2 = 1")))
    }
    it.run(3)
    it.check()
  }

  test("two uses of one stream of files, and one of another with fewer files") {
    val it = new Distinct(2) {
      override def changed(rows: DataFrame): DataFrame = {
        val twice = rows.where("value % 2 = 0").union(rows.where("value % 2 = 1"))
        super.changed(twice.union(filesOf(other)))
      }
    }
    it.run(3)
    assert(it.rows == -1 +: it.numbers)
  }

  /** The commit log has version 3 then, whatever the format of the state. */
  for (format <- Seq(1, 2))
    test(s"format $format: a query whose commit log lists its sinks") {
      assume(HealthyStartSuite.canNameSinks, "this line of Spark lists no sinks")
      val it = new Distinct(
        format,
        "spark.sql.streaming.queryEvolution.enableSinkEvolution" -> "true"
      ) {
        override def named[T](writer: DataStreamWriter[T]): DataStreamWriter[T] =
          HealthyStartSuite.named(writer)
      }
      it.run(3)
      it.check()
      assert(new CheckpointLogs(it.session, it.checkpoint).formatOf(2) == format)
    }

  test("HDFSBacked with a commit log that lists the query's sinks, where Keyfold is set") {
    assume(HealthyStartSuite.canNameSinks, "this line of Spark lists no sinks")
    val it = new Distinct(
      1,
      CheckpointLogs.ProviderKey -> ProviderClass.BuiltIn.head,
      "spark.sql.streaming.queryEvolution.enableSinkEvolution" -> "true"
    ) {
      override def named[T](writer: DataStreamWriter[T]): DataStreamWriter[T] =
        HealthyStartSuite.named(writer)
    }
    it.run()
    it.session.conf.set(CheckpointLogs.FormatKey, "2")
    it.session.conf.set(CheckpointLogs.ProviderKey, ProviderClass.Keyfold)
    // Or Spark goes on with the checkpoint's format and provider, whatever is set.
    if (LineFacts.keepsFormat) {
      it.run()
      it.check()
    } else it.refused("KEYFOLD_OTHER_PROVIDER")
  }

  for (isStateful <- Seq(false, true))
    test(s"a function reads state of another number of partitions, stateful: $isStateful") {
      val other = new Distinct(1)
      other.add()
      other.goOnWithoutSink()
      val it = new Distinct(1, "spark.sql.shuffle.partitions" -> "4") {
        override def changed(rows: DataFrame): DataFrame =
          if (isStateful) super.changed(rows) else rows
      }
      it.add()
      var found = 0L
      it.goOnInto { (rows, _) =>
        rows.count()
        found = rows.sparkSession.read.format("statestore").load(other.checkpoint).count()
      }
      assert(found == other.numbers.size)
    }

  /** Under format 2 Spark would give the open batch the ids of an earlier one. */
  for (format <- Seq(1, 2))
    test(s"format $format: the commit before an open batch is lost") {
      val it = new Distinct(format)
      it.run(2)
      it.leaveOpen()
      Files.delete(Path.of(it.checkpoint, "commits", "1"))
      if (format == 2) assert(it.refused("KEYFOLD_CHECKPOINT_DAMAGED").contains("commits/1"))
      else {
        it.run()
        it.check()
      }
    }
}

private object HealthyStartSuite {
  private def method = classOf[DataStreamWriter[_]].getMethods.find(_.getName == "name")

  def canNameSinks: Boolean = method.nonEmpty

  def named[T](writer: DataStreamWriter[T]): DataStreamWriter[T] = {
    method.get.invoke(writer, "out")
    writer
  }
}
