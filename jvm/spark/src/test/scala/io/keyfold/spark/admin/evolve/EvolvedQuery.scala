package io.keyfold.spark.admin.evolve

import java.nio.file.{Files, Path}
import java.sql.Timestamp

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.spark.{Answers, FileFaults}
import io.keyfold.spark.admin.write.StateWrite
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.spark.rewrite.StateDigest
import io.keyfold.testkit.Failure
import org.apache.commons.io.FileUtils
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.{DataFrame, Encoders, SparkSession}

/** A query over flights, on a checkpoint of its own. */
private final class EvolvedQuery(
    spark: SparkSession,
    val folder: Path,
    query: DataFrame => DataFrame
) {
  import EvolvedQuery._

  private val own = spark.newSession()
  private val input = {
    import own.implicits._
    MemoryStream[Flight](own)
  }

  def set(key: String, value: String): Unit = own.conf.set(key, value)

  def frame: DataFrame = query(input.toDF())

  /** Gives it rows that it has read, or is to read. */
  def add(batches: Seq[Seq[Flight]]): Unit = batches.foreach(input.addData(_))

  /** Starts it, gives it batches, and stops it: rows that came, a set for each batch. */
  def answers(batches: Seq[Seq[Flight]]): Seq[Set[String]] =
    Answers.of(frame, mode, folder, batches)(batch => add(Seq(batch)))

  /** Makes the checkpoint of another query with its state. */
  def evolve(
      to: EvolvedQuery,
      choices: Choices,
      before: Option[DataFrame => DataFrame],
      dryRun: Boolean
  ): EvolutionPlan = CheckpointTools.using(to.own, folder.toString) { tools =>
    val old = before.map(_(to.input.toDF()))
    new Evolution(tools, to.frame, to.folder.toString, to.mode, old, choices).run(dryRun)
  }

  /** Deletes the rows of a key, as a batch of its own. */
  def delete(column: String, key: String): Unit =
    CheckpointTools.using(own, folder.toString) { tools =>
      val rows = own.sql(s"select named_struct('$column', '$key') key")
      new StateWrite(tools, 0, "default", None, Some(rows), replaces = false).run()
      ()
    }

  /** Does something of which the first write to such a path of its folder fails. */
  def failingAt(path: String, failure: Failure)(work: => Any): Unit = {
    val faults = new FileFaults(folder.toString)
    faults.settings.foreach { case (key, value) => own.conf.set(key, value) }
    var isFirst = true
    faults.plan.fail(failure) { call =>
      val fails = isFirst && call.what == "rename" && call.path.matches(path)
      if (fails) isFirst = false
      fails
    }
    try work
    catch { case _: Exception => }
    faults.plan.clear()
    assert(!isFirst)
  }

  /** All that is stored. */
  def digest: Map[String, (Int, Long)] = StateDigest.of(own, folder.toString)

  /** Deletes its folder, as the message says. */
  def clear(): Unit = FileUtils.deleteDirectory(folder.toFile)

  def files: Map[String, Seq[Byte]] = Using.resource(Files.walk(folder)) { paths =>
    paths.iterator.asScala
      .filter(path => Files.isRegularFile(path) && !path.toString.endsWith(".crc"))
      .map(path => folder.relativize(path).toString -> Files.readAllBytes(path).toSeq)
      .toMap
  }

  private def mode =
    if (frame.queryExecution.analyzed.exists(_.nodeName == "Aggregate") && !hasWindow) "update"
    else "append"
  private def hasWindow = frame.queryExecution.analyzed.toString.contains("session_window")
}

private object EvolvedQuery {
  final case class Flight(
      carrier: String,
      origin: String,
      delay: Option[Int],
      distance: Long,
      at: Timestamp
  )

  def at(minute: Int): Timestamp = new Timestamp(1700000000000L / 600000 * 600000 + minute * 60000L)

  final case class Seen(count: Int)
  final case class SeenFrom(count: Int, origin: String)

  /** Counts with mapGroups, and keeps where the last flight was from. */
  def groups(withOrigin: Boolean, timeout: GroupStateTimeout = GroupStateTimeout.NoTimeout())(
      flights: DataFrame
  ): DataFrame = {
    val session = flights.sparkSession
    import session.implicits._
    val keyed = flights.as[Flight].groupByKey(_.carrier)
    if (!withOrigin) {
      def work(key: String, rows: Iterator[Flight], state: GroupState[Seen]): Iterator[String] = {
        state.update(Seen(state.getOption.fold(0)(_.count) + rows.size))
        Iterator(s"$key ${state.get.count}")
      }
      keyed
        .flatMapGroupsWithState(OutputMode.Append(), timeout)(work)
        .toDF()
    } else {
      def work(
          key: String,
          rows: Iterator[Flight],
          state: GroupState[SeenFrom]
      ): Iterator[String] = {
        val all = rows.toSeq
        val before = state.getOption
        state.update(
          SeenFrom(
            before.fold(0)(_.count) + all.size,
            all.map(_.origin).filter(_ != null).maxOption.orNull
          )
        )
        Iterator(s"$key ${state.get.count} ${before.map(_.origin)}")
      }
      keyed
        .flatMapGroupsWithState(OutputMode.Append(), timeout)(work)
        .toDF()
    }
  }

  /** Counts flights up to five of each carrier, on top of what it begins with. */
  def beginning(flights: DataFrame): DataFrame = {
    val session = flights.sparkSession
    import session.implicits._
    def work(key: String, rows: Iterator[Flight], state: GroupState[Seen]): Iterator[String] = {
      val count = state.getOption.fold(0)(_.count) + rows.size
      if (count > 5) state.remove() else state.update(Seen(count))
      Iterator(s"$key $count")
    }
    val first = Seq("a" -> Seen(2), "k" -> Seen(1), "n" -> Seen(3)).toDS().groupByKey(_._1)
    flights
      .as[Flight]
      .groupByKey(_.carrier)
      .flatMapGroupsWithState(
        OutputMode.Append(),
        GroupStateTimeout.NoTimeout(),
        first.mapValues(_._2)
      )(work)
      .toDF()
  }

  /** Delays of each carrier, in state variables. */
  final class FlightDelays(changed: Boolean) extends StatefulProcessor[String, Flight, String] {
    @transient private var total: ValueState[Int] = _
    @transient private var sum: ValueState[Long] = _
    @transient private var origins: MapState[String, Long] = _
    @transient private var minutes: ListState[Long] = _
    @transient private var extra: ListState[String] = _
    @transient private var kept: ListState[String] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
      kept = getHandle.getListState[String]("kept", Encoders.STRING, TTLConfig.NONE)
      if (changed) {
        sum = getHandle.getValueState[Long]("sum", Encoders.scalaLong, TTLConfig.NONE)
        extra = getHandle.getListState[String]("extra", Encoders.STRING, TTLConfig.NONE)
      } else {
        total = getHandle.getValueState[Int]("total", Encoders.scalaInt, TTLConfig.NONE)
        minutes = getHandle.getListState[Long]("minutes", Encoders.scalaLong, TTLConfig.NONE)
      }
      origins = getHandle.getMapState[String, Long](
        "origins",
        Encoders.STRING,
        Encoders.scalaLong,
        TTLConfig.NONE
      )
    }

    override def handleInputRows(
        key: String,
        rows: Iterator[Flight],
        timers: TimerValues
    ): Iterator[String] = {
      val all = rows.toSeq
      for (row <- all) {
        val delay = row.delay.getOrElse(0)
        if (changed) sum.update(Option(sum.get()).getOrElse(0L) + delay)
        else {
          total.update(Option(total.get()).getOrElse(0) + delay)
          minutes.appendValue(delay.toLong)
        }
        kept.appendValue(row.origin)
        origins.updateValue(row.origin, Option(origins.getValue(row.origin)).getOrElse(0L) + 1)
      }
      if (changed) {
        val known = extra.get().toSeq
        if (all.exists(_.origin == "q")) extra.appendValue(s"q${known.size}")
      }
      val total_ = if (changed) sum.get() else total.get().toLong
      Iterator(
        s"$key ${total_} ${kept.get().mkString} ${origins.iterator().toSeq.sorted.mkString(",")}"
      )
    }
  }

  /** Counts the flights of each carrier until none has come for three minutes of event time. */
  final class FlightTimers(name: String, changed: Boolean)
      extends StatefulProcessor[String, Flight, String] {
    @transient private var count: ValueState[Int] = _
    @transient private var most: ValueState[Int] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
      count = getHandle.getValueState[Int](name, Encoders.scalaInt, TTLConfig.NONE)
      if (changed) most = getHandle.getValueState[Int]("most", Encoders.scalaInt, TTLConfig.NONE)
    }

    override def handleInputRows(
        key: String,
        rows: Iterator[Flight],
        timers: TimerValues
    ): Iterator[String] = {
      val all = rows.toSeq
      count.update(Option(count.get()).getOrElse(0) + all.size)
      if (changed && all.exists(_.origin == "q")) most.update(all.flatMap(_.delay).max)
      getHandle.listTimers().toSeq.foreach(getHandle.deleteTimer)
      getHandle.registerTimer(all.map(_.at.getTime).max + 3 * 60000)
      Iterator(s"$key ${count.get()}")
    }

    override def handleExpiredTimer(
        key: String,
        timers: TimerValues,
        expired: ExpiredTimerInfo
    ): Iterator[String] = {
      val last = s"$key ends with ${count.get()} at ${expired.getExpiryTimeInMs()}"
      count.clear()
      Iterator(last)
    }
  }

  object FlightTimers {
    def of(changed: Boolean)(flights: DataFrame): DataFrame =
      named(if (changed) "flights" else "count", changed)(flights)

    /** With a state variable that has the name of the timers' table. */
    def hidden(flights: DataFrame): DataFrame = named("timers", changed = false)(flights)

    private def named(name: String, changed: Boolean)(flights: DataFrame) = {
      val session = flights.sparkSession
      import session.implicits._
      flights
        .withWatermark("at", "0 seconds")
        .as[Flight]
        .groupByKey(_.carrier)
        .transformWithState(
          new FlightTimers(name, changed),
          TimeMode.EventTime(),
          OutputMode.Append()
        )
        .toDF()
    }
  }

  object FlightDelays {
    def of(changed: Boolean)(flights: DataFrame): DataFrame = {
      val session = flights.sparkSession
      import session.implicits._
      flights
        .as[Flight]
        .groupByKey(_.carrier)
        .transformWithState(new FlightDelays(changed), TimeMode.None(), OutputMode.Append())
        .toDF()
    }
  }
}
