// Queries with flatMapGroupsWithState that Spark 3.5 has begun go on with Keyfold: for `spark-shell -i`, which
// then is told `run()`.
// PHASE is before or after; FOLDER keeps what there is between them. Prints a line for each query.

import java.nio.file.{Files, Paths}
import java.sql.Timestamp

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout, OutputMode, Trigger}

case class Event(id: Int, key: String, at: Timestamp)
case class Seen(count: Int, last: Option[Timestamp], ids: Seq[Int])
case class Answer(key: String, count: Int, isOver: Boolean)

val phase = sys.env("PHASE")
val folder = sys.env("FOLDER")
val package_ = "org.apache.spark.sql.execution.streaming.state"
val providers = Seq("HDFSBackedStateStoreProvider", "RocksDBStateStoreProvider")
val timeouts = Seq("no timeout" -> GroupStateTimeout.NoTimeout, "event time" -> GroupStateTimeout.EventTimeTimeout)
val batches = Seq(
  (0 until 40).map(n => (n, "abcde".charAt(n % 5), f"2024-01-01 00:0${n % 7}:00")),
  (25 until 60).map(n => (n, "abcdefg".charAt(n % 7), f"2024-01-01 00:0${n % 9}:30")),
  Seq((90, 'a', "2024-01-01 03:00:00")),
  Seq((91, 'b', "2024-01-01 03:01:00")),
  Seq((92, 'h', "2024-01-01 05:01:00"))
)
val begun = 2

def query(input: String, timeout: GroupStateTimeout): DataFrame = {
  val isTimed = timeout == GroupStateTimeout.EventTimeTimeout
  val events = spark.readStream.schema("id int, key string, at timestamp").option("maxFilesPerTrigger", 1)
    .json(input).withWatermark("at", "10 minutes").as[Event]
  events.groupByKey(_.key).flatMapGroupsWithState[Seen, Answer](OutputMode.Append, timeout) {
    (key: String, rows: Iterator[Event], state: GroupState[Seen]) =>
      if (state.hasTimedOut) {
        val count = state.get.count
        state.remove()
        Iterator(Answer(key, count, true))
      } else {
        val its = rows.toList.sortBy(_.id)
        val before = state.getOption.getOrElse(Seen(0, None, Nil))
        state.update(Seen(before.count + its.size, its.lastOption.map(_.at), (before.ids ++ its.map(_.id)).takeRight(3)))
        if (isTimed) state.setTimeoutTimestamp(its.map(_.at.getTime).max + 3600000L)
        Iterator(Answer(key, state.get.count, false))
      }
  }.toDF()
}

def answers(place: String, checkpoint: String, timeout: GroupStateTimeout, from: Int, until: Int): Seq[String] = {
  val input = s"$place/in"
  Files.createDirectories(Paths.get(input))
  for (number <- from until until) {
    val lines = batches(number).map { case (id, key, at) => s"""{"id": $id, "key": "$key", "at": "$at"}""" }
    Files.write(Paths.get(s"$input/$number.json"), lines.mkString("\n").getBytes("UTF-8"))
  }
  val found = scala.collection.mutable.Buffer.empty[String]
  val take: (DataFrame, Long) => Unit = (rows, _) => found ++= rows.collect().map(_.toString)
  query(input, timeout).writeStream.outputMode("append").foreachBatch(take)
    .option("checkpointLocation", s"$place/$checkpoint")
    .trigger(Trigger.AvailableNow()).start().awaitTermination()
  found.sorted.toList
}

def state(place: String, checkpoint: String): Seq[String] =
  spark.read.format("statestore").load(s"$place/$checkpoint").collect().map(_.toString).sorted.toList

// Spark 3.5 has no such class.
def evolve(place: String, timeout: GroupStateTimeout): String = {
  val frame = query(s"$place/in", timeout)
  val none = ""
  val method = Class.forName("io.keyfold.spark.admin.AdminApi").getMethods.find(_.getName == "evolve").get
  method.invoke(null, spark, s"$place/checkpoint", frame, s"$place/evolved",
    "append", frame, none, none, none, java.lang.Boolean.FALSE).toString
}

// Called as a line of its own: tasks wait for the line that made their classes to end.
def run(): Unit = for (provider <- providers; (name, timeout) <- timeouts) {
  val place = s"$folder/${name.head}-$provider"
  val told =
    if (phase == "before") {
      spark.conf.set("spark.sql.streaming.stateStore.providerClass", s"$package_.$provider")
      answers(place, "checkpoint", timeout, 0, begun)
      "begun"
    } else {
      val rows = "\"rows\": ?(\\d+)".r.findFirstMatchIn(evolve(place, timeout)).get.group(1)
      val its = answers(place, "evolved", timeout, begun, batches.size)
      val again = s"$place/again"
      answers(again, "checkpoint", timeout, 0, begun)
      val same = its == answers(again, "checkpoint", timeout, begun, batches.size) &&
        state(place, "evolved") == state(again, "checkpoint")
      s"$rows rows, ${its.size} answers, ${if (same) "equal" else "wrong"}"
    }
  println(s"flatMapGroupsWithState, $name, $provider: $told")
}
