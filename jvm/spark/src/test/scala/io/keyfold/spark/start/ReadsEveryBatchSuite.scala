package io.keyfold.spark.start

import scala.collection.mutable

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.expressions.UserDefinedFunction
import org.apache.spark.sql.functions._
import org.apache.spark.util.LongAccumulator

/** Batches that their sink does not read, or not all of: they are run for their state. */
class ReadsEveryBatchSuite extends FileSinkQueries {

  /** A database that knows which batches it has. */
  private class Database {
    val batches = mutable.Map.empty[Long, Seq[Int]]
    def rows: Seq[Int] = batches.values.flatten.toSeq.sorted

    def write(rows: DataFrame, batch: Long): Unit =
      if (!batches.contains(batch))
        batches(batch) = rows.collect().map(_.getAs[Number](0).intValue).toSeq
  }

  for (committed <- Seq(0, 2))
    test(s"a function that has batch $committed returns at once, after the driver has ended") {
      val it = new Distinct(2)
      val database = new Database
      for (_ <- 1 to committed) {
        it.add()
        it.goOnInto(database.write)
      }
      it.add()
      it.endingBeforeCommit(it.goOnInto(database.write))
      it.add()
      it.goOnInto(database.write)
      assert(database.rows == it.numbers)
    }

  test("a function that looks at one row, or at none: the state has all") {
    val it = new Distinct(2)
    val database = new Database
    it.add()
    it.goOnInto((rows, _) => { rows.take(1); () })
    it.add()
    it.goOnInto((_, _) => ())
    it.add()
    it.goOnInto(database.write)
    assert(database.rows == it.numbers.takeRight(3))
  }

  test("a batch that its sink has read is not run again") {
    val seen = spark.sparkContext.longAccumulator
    val it = new Distinct(2) {
      override def changed(rows: DataFrame): DataFrame = {
        val count = ReadsEveryBatchSuite.counting(seen)
        super.changed(rows.select(count(col("value")).as("value")))
      }
    }
    it.add()
    it.goOnInto(new Database().write)
    assert(seen.value == it.numbers.size)
  }

  test("two operators, one after the other, of a batch that its sink has") {
    val it = new Distinct(2) {
      override def outputMode: String = "complete"
      override def changed(rows: DataFrame): DataFrame =
        super.changed(rows).groupBy(expr("value % 5")).count().select("count")
    }
    val database = new Database
    def counts = it.numbers.groupBy(_ % 5).values.map(_.size).toSeq.sorted
    it.session.conf.set("spark.sql.streaming.statefulOperator.allowMultiple", "true")
    it.add()
    it.goOnInto(database.write)
    it.add()
    it.endingBeforeCommit(it.goOnInto(database.write))
    it.add()
    it.goOnInto(database.write)
    assert(database.batches(2).sorted == counts)
  }

  test("the watermark is that of a batch that its sink has read") {
    val it = new Distinct(2) {
      override def changed(rows: DataFrame): DataFrame = rows
        .select(timestamp_seconds(col("value") * 60).as("at"))
        .withWatermark("at", "0 seconds")
        .groupBy(window(col("at"), "1 minute"))
        .count()
        .select((unix_timestamp(col("window.start")) / 60).cast("int"))
    }
    val database = new Database
    it.add()
    it.endingBeforeCommit(it.goOnInto(database.write))
    // Batch 0 has nothing to write yet. What the next one writes are the windows that it has closed.
    it.goOnInto(database.write)
    assert(database.rows == it.numbers.init)
  }
}

private object ReadsEveryBatchSuite {
  def counting(seen: LongAccumulator): UserDefinedFunction =
    udf((value: Int) => { seen.add(1); value }).asNondeterministic()
}
