package io.keyfold.spark

import java.nio.file.Path
import java.time.Duration

import scala.collection.mutable

import org.apache.spark.sql.{Encoders, SparkSession}
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.keyfold.TimedQuery
import org.apache.spark.sql.streaming._

/** A transformWithState query over keys whose state lives for an hour of processing time, started
  * again as often as a test wants.
  */
private[spark] final class ExpiringCounts(session: SparkSession, folder: Path) {
  import ExpiringCounts._
  import session.implicits._

  private val input = MemoryStream[String](session)

  /** Gives it a batch at that minute; returns what came out, sorted. */
  def run(minute: Long, keys: Seq[String]): Seq[String] = {
    val found = mutable.Buffer.empty[String]
    val counted = input
      .toDS()
      .groupByKey(identity[String])
      .transformWithState(new Everything, TimeMode.ProcessingTime(), OutputMode.Update())
    input.addData(keys)
    TimedQuery.runBatch(counted, folder.toString, minute * 60000) { batch =>
      found ++= batch.collect()
      ()
    }
    found.sorted.toSeq
  }
}

private[spark] object ExpiringCounts {
  private val Hour = TTLConfig(Duration.ofHours(1))

  /** For each key: what its state says of how often it came before this batch, as a value, as the
    * length of a list and as that of a map.
    */
  final class Everything extends StatefulProcessor[String, String, String] {
    @transient private var count: ValueState[Long] = _
    @transient private var list: ListState[Long] = _
    @transient private var map: MapState[Long, String] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
      count = getHandle.getValueState[Long]("count", Encoders.scalaLong, Hour)
      list = getHandle.getListState[Long]("list", Encoders.scalaLong, Hour)
      map = getHandle.getMapState[Long, String]("map", Encoders.scalaLong, Encoders.STRING, Hour)
    }

    override def handleInputRows(
        key: String,
        rows: Iterator[String],
        timers: TimerValues
    ): Iterator[String] = {
      val before = Option(count.get()).getOrElse(0L)
      val found = s"$key $before ${list.get().length} ${map.keys().length}"
      val now = timers.getCurrentProcessingTimeInMs()
      count.update(before + rows.length)
      list.appendValue(now)
      map.updateValue(now, key)
      Iterator(found)
    }
  }
}
