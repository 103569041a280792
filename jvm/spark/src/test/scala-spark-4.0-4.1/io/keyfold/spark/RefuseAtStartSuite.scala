package io.keyfold.spark

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.spark.admin.rescale.Scenario
import io.keyfold.testkit.Failure
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

/** What these lines cannot do with a checkpoint is said when the query starts. */
class RefuseAtStartSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val formatKey = "spark.sql.streaming.stateStore.checkpointFormatVersion"

  for ((from, to) <- Seq(1 -> 2, 2 -> 1))
    test(s"a checkpoint of format $from goes on under format $from only, which the error says") {
      val it = new Scenario(spark, Scenario.aggregation, from)
      it.run(1)
      it.session.conf.set(formatKey, to.toString)
      val error = intercept[Invalid](it.run(1, addAgain = false))
      assert(error.condition == "KEYFOLD_CHECKPOINT_FORMAT")
      assert(error.getMessage.contains(s"set $formatKey=$from "))
      it.session.conf.set(formatKey, from.toString)
      it.run(1)
      it.check()
    }

  test("a rescale that was not finished is named, and once it is, the query goes on") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.faults.plan.fail(Failure.Before) { call =>
      call.what == "rename" && call.path.startsWith("commits/")
    }
    intercept[Exception](it.rescale(12))
    it.faults.plan.clear()
    val error = intercept[RescaleRefused](it.run(1))
    assert(error.condition == "KEYFOLD_RESCALE_UNFINISHED")
    assert(error.getMessage.contains("from 8 to 12 partitions"))
    it.rescale(12)
    it.run(1, addAgain = false)
    it.check()
  }

  test("a batch that failed is no rescale: the query starts, and computes it again") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(1)
    it.faults.plan.fail(Failure.Before) { call =>
      call.what == "rename" && call.path.startsWith("commits/")
    }
    intercept[StreamingQueryException](it.run(1))
    it.faults.plan.clear()
    it.run(1, addAgain = false)
    it.check()
  }
}
