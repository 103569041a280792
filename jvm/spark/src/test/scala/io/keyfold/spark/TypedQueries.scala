package io.keyfold.spark

import java.time.Duration

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders, Row}

/** Queries by Scala's `df.groupBy(...).as[K, Row]`, which count the rows of a key. */
object TypedQueries {

  /** With `transformWithState` in processing time.
    *
    * @param names
    *   columns that are grouped by
    */
  def counted[K: Encoder](rows: DataFrame, names: String*): Dataset[Long] =
    rows
      .groupBy(names.map(column): _*)
      .as[K, Row](implicitly[Encoder[K]], Encoders.row(rows.schema))
      .transformWithState(new Count[K], TimeMode.ProcessingTime(), OutputMode.Update())(
        Encoders.scalaLong
      )

  /** Says of each key 1 if it was there before, else 0, by a map that is only scanned.
    *
    * @param isKept
    *   whether new keys are kept; asked in tasks
    */
  def seen[K: Encoder](isKept: () => Boolean)(rows: DataFrame, names: String*): Dataset[Long] =
    rows
      .groupBy(names.map(column): _*)
      .as[K, Row](implicitly[Encoder[K]], Encoders.row(rows.schema))
      .transformWithState(new Seen[K](isKept), TimeMode.None(), OutputMode.Update())(
        Encoders.scalaLong
      )

  /** For Python.
    *
    * @param key
    *   in Spark's DDL: the key's columns, in any order and with any types that Spark can make of
    *   the rows'
    */
  def counted(rows: DataFrame, names: Array[String], key: String): DataFrame =
    counted[Row](rows, names.toSeq: _*)(Encoders.row(StructType.fromDDL(key))).toDF("rows")

  /** With `flatMapGroupsWithState`, for Python. */
  def flatMapped(rows: DataFrame, names: Array[String], key: String): DataFrame =
    rows
      .groupBy(names.toSeq.map(column): _*)
      .as[Row, Row](Encoders.row(StructType.fromDDL(key)), Encoders.row(rows.schema))
      .flatMapGroupsWithState(OutputMode.Update(), GroupStateTimeout.NoTimeout()) {
        (_: Row, rows: Iterator[Row], state: GroupState[Long]) =>
          state.update(state.getOption.getOrElse(0L) + rows.size)
          Iterator(state.get)
      }(Encoders.scalaLong, Encoders.scalaLong)
      .toDF("rows")

  private def column(name: String) = col(s"`${name.replace("`", "``")}`")

  /** Counts in a variable of each kind, and says -1 if they differ. */
  private final class Count[K] extends StatefulProcessor[K, Row, Long] {
    @transient private var count: ValueState[Long] = _
    @transient private var list: ListState[Long] = _
    @transient private var map: MapState[Long, Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
      val long = Encoders.scalaLong
      val ttl = TTLConfig(Duration.ofDays(1))
      count = getHandle.getValueState[Long]("n", long, ttl)
      list = getHandle.getListState[Long]("l", long, TTLConfig.NONE)
      map = getHandle.getMapState[Long, Long]("m", long, long, ttl)
    }

    override def handleInputRows(
        key: K,
        rows: Iterator[Row],
        timers: TimerValues
    ): Iterator[Long] = {
      val more = rows.size.toLong
      count.update(Option(count.get()).getOrElse(0L) + more)
      list.appendValue(more)
      map.updateValue(map.iterator().size.toLong, more)
      val counts = Set(count.get(), list.get().sum, map.values().sum)
      Iterator(if (counts.size == 1) counts.head else -1L)
    }
  }

  private final class Seen[K](isKept: () => Boolean) extends StatefulProcessor[K, Row, Long] {
    @transient private var map: MapState[Long, Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      map = getHandle
        .getMapState[Long, Long]("m", Encoders.scalaLong, Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: K,
        rows: Iterator[Row],
        timers: TimerValues
    ): Iterator[Long] = {
      val isThere = map.exists()
      if (isKept()) map.updateValue(1L, 1L)
      Iterator(if (isThere) 1L else 0L)
    }
  }
}
