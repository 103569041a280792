package io.keyfold.spark.start

import io.keyfold.spark.{KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.rescale.Scenario
import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.testkit.Failure
import org.scalatest.funsuite.AnyFunSuite

/** A query starts with the number of partitions that is set for it. */
class RescaleAtStartSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val key = "spark.sql.streaming.stateStore.keyfold.partitions"

  private def partitions(it: Scenario) = {
    val logs = new CheckpointLogs(it.session, it.folder.toString)
    logs.partitions(logs.lastCommitted.get).get
  }

  private def batches(it: Scenario) =
    new CheckpointLogs(it.session, it.folder.toString).lastCommitted.get

  for (format <- Seq(1, 2))
    test(s"a query goes on with the number of partitions that is set, format $format") {
      val it = new Scenario(spark, Scenario.aggregation, format)
      it.run(3)
      for (to <- Seq(12, 5, 8)) {
        it.session.conf.set(key, to.toString)
        val before = batches(it)
        it.run(2)
        assert(partitions(it) == to)
        // One batch is the rescale's own; a second start has nothing to rescale.
        assert(batches(it) == before + 3)
        it.run(1)
        assert(batches(it) == before + 4)
      }
      it.check()
    }

  test("the progress of the first batch counts the stores that loaded rescaled state") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.session.conf.set(key, "12")
    val loads =
      it.progressOf(3).map(_.stateOperators.head.customMetrics.get("keyfoldRescaledLoads"))
    assert(loads.head.longValue == 12)
    assert(loads.tail.forall(_.longValue == 0))
    it.check()
  }

  test("without the setting, and for a new query, the number is Spark's") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2, Map(key -> "12"))
    it.run(1)
    assert(partitions(it) == 8)
    it.session.conf.unset(key)
    it.run(1)
    assert(partitions(it) == 8)
    it.check()
  }

  test("a rescale at a start that was not finished is finished at the next one") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.session.conf.set(key, "12")
    it.faults.plan.fail(Failure.Before) { call =>
      call.what == "rename" && call.path.startsWith("commits/")
    }
    intercept[Exception](it.run(1))
    it.faults.plan.clear()
    it.run(1, addAgain = false)
    assert(partitions(it) == 12)
    it.check()
  }

  test("another rescale that was not finished is named, and nothing is changed") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.faults.plan.fail(Failure.Before) { call =>
      call.what == "rename" && call.path.startsWith("commits/")
    }
    intercept[Exception](it.rescale(12))
    it.faults.plan.clear()
    it.session.conf.set(key, "6")
    val error = intercept[IllegalArgumentException](it.run(1))
    assert(error.getMessage.startsWith("[KEYFOLD_RESCALE_UNFINISHED]"))
    it.rescale(12)
    it.run(1, addAgain = false)
    assert(partitions(it) == 6)
    it.check()
  }

  test("while a run of the query is active here its restart with another number is refused") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(1)
    val active = it.start()
    try {
      it.session.conf.set(key, "12")
      val error = intercept[IllegalArgumentException](it.start())
      assert(error.getMessage.startsWith("[KEYFOLD_RESCALE_RUNNING]"))
      assert(active.isActive && partitions(it) == 8)
    } finally active.stop()
    it.run(1)
    assert(partitions(it) == 12)
    it.check()
  }
}
