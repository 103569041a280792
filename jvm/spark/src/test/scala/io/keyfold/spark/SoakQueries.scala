package io.keyfold.spark

import org.apache.spark.sql.streaming._
import org.apache.spark.sql.{DataFrame, Encoders}

/** Queries of the soak that are not to be had from Python. What they keep of a key is bounded. */
object SoakQueries {
  import EventCounts.Event

  /** Rows of each key so far, of rows with `key` and `at`, which has a watermark. */
  def latest(rows: DataFrame): DataFrame = {
    import rows.sparkSession.implicits._
    rows
      .as[Event]
      .groupByKey(_.key)
      .transformWithState(new Latest, TimeMode.EventTime(), OutputMode.Update())
      .toDF("key", "rows")
  }

  /** Rows of each key, once there were none for so many minutes. */
  def ended(rows: DataFrame, minutes: Int): DataFrame = {
    import rows.sparkSession.implicits._
    rows
      .as[Event]
      .groupByKey(_.key)
      .flatMapGroupsWithState[Long, (String, Long)](
        OutputMode.Append(),
        GroupStateTimeout.EventTimeTimeout()
      ) { (key, events, state) =>
        if (state.hasTimedOut) {
          val rows = state.get
          state.remove()
          Iterator(key -> rows)
        } else {
          val its = events.toSeq
          state.update(state.getOption.getOrElse(0L) + its.size)
          state.setTimeoutTimestamp(its.map(_.at.getTime).max + minutes * 60000L)
          Iterator.empty
        }
      }
      .toDF("key", "rows")
  }

  private val Listed = 20
  private val TimerMs = 600000L

  /** A list of the latest rows, and a map of those whose timer has not come. */
  final class Latest extends StatefulProcessor[String, Event, (String, Long)] {
    @transient private var count: ValueState[Long] = _
    @transient private var list: ListState[Long] = _
    @transient private var map: MapState[Long, String] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
      count = getHandle.getValueState[Long]("count", Encoders.scalaLong, TTLConfig.NONE)
      list = getHandle.getListState[Long]("list", Encoders.scalaLong, TTLConfig.NONE)
      map = getHandle
        .getMapState[Long, String]("map", Encoders.scalaLong, Encoders.STRING, TTLConfig.NONE)
    }

    override def handleInputRows(
        key: String,
        rows: Iterator[Event],
        timers: TimerValues
    ): Iterator[(String, Long)] = {
      for (row <- rows) {
        val time = row.at.getTime
        count.update(Option(count.get()).fold(1L)(_ + 1))
        list.appendValue(time)
        map.updateValue(time, key)
        getHandle.registerTimer(time + TimerMs)
      }
      val listed = list.get().toArray
      if (listed.length > Listed) list.put(listed.takeRight(Listed))
      Iterator(key -> count.get())
    }

    override def handleExpiredTimer(
        key: String,
        timers: TimerValues,
        timer: ExpiredTimerInfo
    ): Iterator[(String, Long)] = {
      val time = timer.getExpiryTimeInMs() - TimerMs
      require(map.containsKey(time), s"a timer came twice, or without its row: $key $time")
      map.removeKey(time)
      Iterator.empty
    }
  }
}
