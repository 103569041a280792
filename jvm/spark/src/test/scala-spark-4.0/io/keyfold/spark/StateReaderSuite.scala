package io.keyfold.spark

import io.keyfold.spark.admin.rescale.Scenario
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
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

  test("a query reads the state of another one, which has another number of partitions") {
    val it = new Scenario(spark, Scenario.aggregation, format = 1)
    it.run(2)
    val session = spark
    import session.implicits._
    val input = MemoryStream[Int](session)
    val state = session.read.format("statestore").load(it.folder.toString).select("key")
    var found = 0L
    val query = input
      .toDF()
      .crossJoin(state)
      .writeStream
      .foreachBatch { (batch: DataFrame, _: Long) => found += batch.count() }
      .start()
    try {
      input.addData(1)
      query.processAllAvailable()
    } finally query.stop()
    assert(found == 37)
  }
}
