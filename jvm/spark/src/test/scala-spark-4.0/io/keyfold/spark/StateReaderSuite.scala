package io.keyfold.spark

import io.keyfold.spark.admin.rescale.Scenario
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
}
