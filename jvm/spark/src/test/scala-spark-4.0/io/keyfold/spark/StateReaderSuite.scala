package io.keyfold.spark

import io.keyfold.spark.admin.rescale.Scenario
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.scalatest.funsuite.AnyFunSuite

/** This line's state reader knows no ids. */
class StateReaderSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  private def read(format: Int) = {
    val it = new Scenario(spark, Scenario.aggregation, format)
    it.run(2)
    it.session.read.format("statestore").load(it.folder.toString).select("key", "value").collect()
  }

  test("the state reader reads a checkpoint of format 1") {
    assert(read(format = 1).length == 37)
  }

  test("the state reader's error about a checkpoint of format 2 says who can read it") {
    val error = intercept[Exception](read(format = 2))
    assert(error.getMessage.contains("KEYFOLD_STATE_SOURCE"))
    assert(error.getMessage.contains("the `keyfold` command"))
  }

  private def found(transform: DataFrame => DataFrame): Long = {
    val it = new Scenario(spark, Scenario.aggregation, format = 1)
    it.run(2)
    val session = spark
    import session.implicits._
    val input = MemoryStream[Int](session)
    val state = session.read.format("statestore").load(it.folder.toString).select("key")
    var found = 0L
    val query = transform(input.toDF().crossJoin(state)).writeStream
      .outputMode("update")
      .foreachBatch { (batch: DataFrame, _: Long) => found += batch.count() }
      .start()
    try
      for (batch <- 1 to 2) {
        input.addData(batch)
        query.processAllAvailable()
      }
    finally query.stop()
    found
  }

  test("a query reads the state of another one, which has another number of partitions") {
    assert(found(identity) == 2 * 37)
  }

  test("a query with state reads that of another one, which has another number of partitions") {
    assert(found(_.dropDuplicates("key")) == 37)
  }

  test("after a transformWithState in batch, the state of a query is read as before") {
    val it = new Scenario(spark, Scenario.aggregation, format = 1)
    it.run(2)
    val session = spark
    import session.implicits._
    val counts = Seq(EventCounts.event("a", 1), EventCounts.event("b", 2))
      .toDS()
      .groupByKey(_.key)
      .transformWithState(
        new EventCounts.Everything,
        TimeMode.ProcessingTime(),
        OutputMode.Update()
      )
    assert(counts.collect().count(!_.startsWith("timer")) == 2)
    val state = spark.read.format("statestore").load(it.folder.toString)
    assert(state.count() == 37)
  }
}

/** The same where the extension tells executors the number of partitions. */
class StateReaderWithExtensionSuite extends StateReaderSuite {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)
}
