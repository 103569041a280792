package io.keyfold.spark.admin.rescale

import java.nio.file.{Files, Path}

import scala.collection.mutable

import io.keyfold.spark.{FileFaults, KeyfoldStateStoreProvider, LaterFeatures}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.testkit.{Failure, Folders}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.keyfold.LineFacts
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming.{
  GroupState,
  StreamingQuery,
  StreamingQueryException,
  StreamingQueryProgress
}
import org.scalatest.Assertions

/** A stateful query over numbers, which is stopped and started, and what it must give: what the
  * same transformation gives of all numbers at once.
  */
private[spark] final class Scenario(
    base: SparkSession,
    shape: Scenario.Shape,
    format: Int,
    confs: Map[String, String] = Map.empty
) extends Assertions {
  shape.missing(format).foreach(cancel(_))
  private val original = Files.createTempDirectory("keyfold-rescale")
  private var place = original
  val faults = new FileFaults(original.toString)
  val session: SparkSession = base.newSession()
  import session.implicits._

  private val all = Map(
    "spark.sql.shuffle.partitions" -> "8",
    "spark.sql.streaming.stateStore.providerClass" -> classOf[KeyfoldStateStoreProvider].getName,
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "2",
    "spark.sql.streaming.stateStore.keyfold.snapshotAfterShare" -> "1000",
    "spark.sql.streaming.minBatchesToRetain" -> "2",
    "spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint" -> "0.01"
  ) ++ faults.settings ++ shape.confs ++ confs
  all.foreach { case (key, value) => session.conf.set(key, value) }

  private val input = MemoryStream[Int](session)
  private val added = mutable.Buffer.empty[Seq[Int]]
  private val found = mutable.Map.empty[Any, Row]

  /** By batch: a sink that goes by its number counts a batch that runs again once. */
  private var rows = Map.empty[Long, Seq[Row]]

  /** Numbers of the batches that the sink got, in order. */
  val sinkBatches: mutable.Buffer[Long] = mutable.Buffer.empty

  /** The checkpoint. */
  def folder: Path = place

  /** From now on the query goes on with a copy of the checkpoint. */
  def moveTo(copy: Path): Unit = place = copy

  /** A query that goes on with a copy of the checkpoint, from where this one is. */
  def copied(): Scenario = {
    val copy = new Scenario(base, shape, format, confs)
    Folders.copy(folder, copy.folder)
    added.foreach(copy.add)
    copy.found ++= found
    copy.rows = rows
    copy.sinkBatches ++= sinkBatches
    copy
  }

  private def add(numbers: Seq[Int]): Unit = {
    added += numbers
    input.addData(numbers)
    ()
  }

  def state = new StateFolder(folder)

  def start(): StreamingQuery = shape
    .transform(input.toDF())
    .writeStream
    .outputMode(shape.mode)
    .option("checkpointLocation", folder.toString)
    .foreachBatch { (batch: DataFrame, id: Long) =>
      sinkBatches += id
      val out = batch.collect()
      shape.mode match {
        case "complete" => rows = Map(id -> out.toSeq)
        case "append"   => rows += id -> out.toSeq
        case _          => out.foreach(row => found(row.get(0)) = row)
      }
      ()
    }
    .start()

  /** Runs batches of numbers that overlap with those before; maintenance in between.
    *
    * @param addAgain
    *   or there are numbers from a run that failed
    */
  def run(batches: Int, between: () => Unit = () => (), addAgain: Boolean = true): Unit = {
    progressOf(batches, between, addAgain)
    ()
  }

  /** Runs batches, and returns what Spark tells of them. */
  def progressOf(
      batches: Int,
      between: () => Unit = () => (),
      addAgain: Boolean = true
  ): Seq[StreamingQueryProgress] = {
    val query = start()
    try {
      for (_ <- 1 to batches) {
        val from = added.map(_.length).sum / 2
        if (addAgain) add(from until from + 40)
        query.processAllAvailable()
        between()
      }
      query.recentProgress.toSeq.filter(_.numInputRows > 0)
    } finally query.stop()
  }

  def rescale(to: Int): CheckpointPlan =
    AdminApi.applyTo(session, folder.toString, to)

  /** A batch is begun, runs to its end, and is not committed. */
  def leaveOpen(): Unit = {
    faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("commits/"))
    intercept[StreamingQueryException](run(1))
    faults.plan.clear()
  }

  def undoRescale(): Unit = {
    CheckpointTools.using(session, folder.toString)(new UndoneRescale(_).run(dryRun = false))
    ()
  }

  /** What came out is what comes out of all numbers at once. */
  def check(): Unit = {
    val values = added.flatten.toSeq.toDF("value")
    val expected = shape.inBatch(values).collect().map(_.toString).sorted.toSeq
    val got = (if (shape.mode == "update") found.values else rows.values.flatten)
      .map(_.toString)
      .toSeq
      .sorted
    assert(got == expected)
    ()
  }
}

private[spark] object Scenario {

  /** @param mode
    *   output mode; in update mode the first column tells rows apart
    * @param missing
    *   why this line of Spark cannot run it under a checkpoint format, if it cannot
    */
  final class Shape(
      val name: String,
      val mode: String,
      val confs: Map[String, String],
      val transform: DataFrame => DataFrame,
      val inBatch: DataFrame => DataFrame,
      val missing: Int => Option[String] = _ => None
  )

  private object Shape {
    def apply(
        name: String,
        mode: String,
        confs: Map[String, String] = Map.empty,
        missing: Int => Option[String] = _ => None
    )(transform: DataFrame => DataFrame) =
      new Shape(name, mode, confs, transform, transform, missing)
  }

  private val value = col("value")

  val aggregation: Shape =
    Shape("aggregation", "update")(_.groupBy((value % 37).as("k")).agg(count("*"), sum("value")))

  private def timed(numbers: DataFrame) =
    numbers.withColumn("at", timestamp_seconds(value + 1)).withWatermark("at", "100000 seconds")

  /** New queries with state format 1 do not start in Spark 4.2. */
  private def join(version: Int) = Shape(
    s"join, state format $version",
    "append",
    Map(
      "spark.sql.streaming.join.stateFormatVersion" -> version.toString,
      "spark.sql.streaming.join.stateFormatV4.enabled" -> "true"
    ),
    _ =>
      Option.when(version > LineFacts.newestJoin) {
        s"New joins have state formats up to ${LineFacts.newestJoin} here"
      }
  ) { numbers =>
    val left = numbers.select(value.as("l"), (value % 31).as("lk"))
    val right = numbers.select(value.as("r"), (value % 31).as("rk"))
    left.join(right, col("lk") === col("rk") && col("l") < col("r"))
  }

  private val grouped = Shape("mapGroupsWithState", "update") { numbers =>
    import numbers.sparkSession.implicits._
    numbers
      .as[Int]
      .groupByKey(_ % 17)
      .mapGroupsWithState[Long, (Int, Long)] {
        (key: Int, values: Iterator[Int], state: GroupState[Long]) =>
          val sum = state.getOption.getOrElse(0L) + values.map(_.toLong).sum
          state.update(sum)
          (key, sum)
      }
      .toDF()
  }

  private def inOneTask(format: Int) = Option.when(format == 2 && !LaterFeatures.oneTaskWithIds)(
    "Operators in one task run under format 2 since Spark 4.1"
  )

  val all: Seq[Shape] = Seq(
    aggregation,
    Shape("aggregation without keys", "complete", missing = inOneTask)(
      _.agg(count("*"), sum("value"))
    ),
    Shape("dropDuplicates", "append")(_.dropDuplicates("value")),
    Shape("dropDuplicates, then aggregation without keys", "complete", missing = inOneTask) {
      _.dropDuplicates("value").agg(count("*"), sum("value"))
    },
    new Shape(
      "dropDuplicatesWithinWatermark",
      "append",
      Map.empty,
      timed(_).dropDuplicatesWithinWatermark("value").select("value"),
      // Spark refuses it in batch; the watermark is never reached.
      _.dropDuplicates("value")
    ),
    Shape("session window", "complete") { numbers =>
      timed(numbers)
        .groupBy(session_window(col("at"), "3 seconds"), (value % 5).as("k"))
        .count()
        .select(col("session_window.start"), col("k"), col("count"))
    },
    grouped,
    join(2),
    join(3),
    join(4)
  )
}
