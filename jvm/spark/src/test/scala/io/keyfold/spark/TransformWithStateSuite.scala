package io.keyfold.spark

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

/** transformWithState through the planner of Spark, with the extension. */
class TransformWithStateSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import EventCounts._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> classOf[KeyfoldExtensions].getName,
    "spark.sql.shuffle.partitions" -> "3",
    "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "2"
  )

  test("value, list and map state and timers, over a restart") {
    val counts = new EventCounts(spark, Files.createTempDirectory("keyfold-tws"))
    val keys = Seq("a", "b", "c", "d", "e")
    assert(
      counts.run(keys.map(event(_, 1)), keys.map(event(_, 2)))
        == keys.map(k => s"$k 1 1 1") ++ keys.map(k => s"$k 2 1,2 1,2")
    )
    // The timers of second 2 plus 10 fire once the watermark is beyond it.
    val late = counts.run(Seq(event("z", 100)), Seq(event("z", 101)))
    assert(
      late.filter(_.startsWith("timer")).toSet ==
        keys.flatMap(k => Seq(s"timer $k 11000", s"timer $k 12000")).toSet
    )
    assert(counts.run(Seq(event("a", 102))) == Seq("a 3 1,2,102 1,2,102"))
  }
}
