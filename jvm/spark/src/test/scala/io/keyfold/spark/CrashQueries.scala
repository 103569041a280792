package io.keyfold.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}

/** Queries of the crash harness that are not to be had from Python. */
object CrashQueries {

  /** What [[EventCounts.Everything]] says of rows with `key` and `at`, which has a watermark. */
  def eventCounts(rows: DataFrame): DataFrame = {
    import rows.sparkSession.implicits._
    rows
      .as[EventCounts.Event]
      .groupByKey(_.key)
      .transformWithState(new EventCounts.Everything, TimeMode.EventTime(), OutputMode.Update())
      .toDF("said")
  }
}
