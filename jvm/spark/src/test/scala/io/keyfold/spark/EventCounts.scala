package io.keyfold.spark

import java.nio.file.Path
import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.{Dataset, Encoders, SparkSession}

/** A transformWithState query over events, started again as often as a test wants. */
private[spark] final class EventCounts(session: SparkSession, folder: Path) {
  import EventCounts._
  import session.implicits._

  private val input = MemoryStream[Event](session)

  /** Starts it, gives it batches, and stops it; returns what came out. */
  def run(batches: Seq[Event]*): Seq[String] = {
    val found = mutable.Buffer.empty[String]
    val query = input
      .toDS()
      .withWatermark("at", "0 seconds")
      .groupByKey(_.key)
      .transformWithState(new Everything, TimeMode.EventTime(), OutputMode.Update())
      .writeStream
      .outputMode("update")
      .option("checkpointLocation", folder.toString)
      .foreachBatch { (batch: Dataset[String], _: Long) =>
        found ++= batch.collect().sorted
        ()
      }
      .start()
    try
      for (batch <- batches) {
        input.addData(batch)
        query.processAllAvailable()
      }
    finally query.stop()
    found.toSeq
  }
}

private[spark] object EventCounts {
  final case class Event(key: String, at: Timestamp)

  def event(key: String, second: Long): Event = Event(key, new Timestamp(second * 1000))

  /** For each key: how many rows it had, in the same variable as [[Everything]], which has more. */
  final class Few extends StatefulProcessor[String, Event, String] {
    @transient private var count: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      count = getHandle.getValueState[Long]("count", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: String,
        rows: Iterator[Event],
        timers: TimerValues
    ): Iterator[String] = {
      count.update(Option(count.get()).getOrElse(0L) + rows.size)
      Iterator(s"$key ${count.get()}")
    }
  }

  /** For each key: how many rows it had, their seconds as a list and as a map, a timer 10 s later.
    */
  final class Everything extends StatefulProcessor[String, Event, String] {
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
    ): Iterator[String] = {
      for (row <- rows) {
        val second = row.at.getTime / 1000
        count.update(Option(count.get()).fold(1L)(_ + 1))
        list.appendValue(second)
        map.updateValue(second, key)
        getHandle.registerTimer(row.at.getTime + 10000)
      }
      val keys = map.keys().toSeq.sorted
      Iterator(s"$key ${count.get()} ${list.get().mkString(",")} ${keys.mkString(",")}")
    }

    override def handleExpiredTimer(
        key: String,
        timers: TimerValues,
        timer: ExpiredTimerInfo
    ): Iterator[String] = Iterator(s"timer $key ${timer.getExpiryTimeInMs()}")
  }
}
