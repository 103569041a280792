package org.apache.spark.sql.keyfold

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.{DAYS, SECONDS}

import org.apache.spark.sql.catalyst.encoders.encoderFor
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink
import org.apache.spark.sql.streaming.{OutputMode, Trigger}
import org.apache.spark.sql.{Dataset, Encoder}
import org.apache.spark.util.ManualClock

/** Queries whose processing time a test sets. */
object TimedQuery {

  /** Goes on with a query for one batch, at `ms` since 1970. */
  def runBatch[T: Encoder](data: Dataset[T], checkpoint: String, ms: Long)(
      batch: Dataset[T] => Unit
  ): Unit = {
    val clock = new Gate(ms)
    val query = data.sparkSession
      .asInstanceOf[classic.SparkSession]
      .sessionState
      .streamingQueryManager
      .startQuery(
        userSpecifiedName = None,
        userSpecifiedCheckpointLocation = Some(checkpoint),
        df = data.asInstanceOf[classic.Dataset[T]],
        extraOptions = Map.empty,
        sink = new ForeachBatchSink[T]((rows, _) => batch(rows), encoderFor[T]),
        outputMode = OutputMode.Update(),
        trigger = Trigger.ProcessingTime(1, DAYS),
        triggerClock = clock
      )
    try {
      while (query.isActive && !clock.isAwaited.await(1, SECONDS)) ()
      query.exception.foreach(throw _)
    } finally query.stop()
  }

  /** Opens when the query has done a batch, and waits for the time of the next. With processing
    * time there always is a next one, without data if need be, so that Spark's own
    * `processAllAvailable` does not end.
    */
  private final class Gate(ms: Long) extends ManualClock(ms) {
    val isAwaited = new CountDownLatch(1)

    override def waitTillTime(targetTime: Long): Long = {
      isAwaited.countDown()
      super.waitTillTime(targetTime)
    }
  }
}
