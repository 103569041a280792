package io.keyfold.spark.admin.write

import java.nio.file.{Files, Path}
import java.sql.Timestamp

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.spark.{ExpiringCounts, FileFaults, KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.EventCounts.{event, Event}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import io.keyfold.testkit.{Failure, Folders}
import org.apache.spark.sql.{DataFrame, Dataset, Encoders, Row}
import org.apache.spark.sql.functions._
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming._
import org.scalatest.funsuite.AnyFunSuite

/** A query that was given the state of another goes on as that one does. */
class StateWriteSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import StateWriteSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> classOf[KeyfoldExtensions].getName,
    "spark.sql.shuffle.partitions" -> "3",
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2",
    "spark.sql.session.timeZone" -> "UTC"
  )

  private val keys = ('a' to 'p').map(_.toString)
  private val first = Seq(keys.map(event(_, 1)), keys.take(9).map(event(_, 8)))
  private val others = first.map(_.map(it => it.copy(key = s"not ${it.key}")))
  private val second =
    Seq(keys.drop(3).map(event(_, 12)), Seq(event("z", 100)), Seq(event("a", 101)))

  for ((name, tables) <- Tables)
    test(s"$name: seeded with the state of a query that ran, it goes on as that one") {
      val original = new Run(name)
      original.answers(first)
      val seeded = new Run(name)
      seeded.answers(others)
      for (table <- tables) seeded.write(table, put = Some(original.rows(table)), replaces = true)
      for (table <- tables)
        assert(seeded.texts(table) == original.texts(table) && seeded.texts(table).nonEmpty)
      val answer = original.answers(second)
      assert(answer.nonEmpty && seeded.answers(second) == answer)
    }

  test("rows are put in place of those of their keys, deleted by key, and others stay") {
    val run = begun()
    val before = run.rows("default").collect().map(row => keyOf(row) -> countOf(row)).toMap
    val put = run
      .rows("default")
      .where("key.key in ('a', 'b')")
      .selectExpr(
        "named_struct('key', upper(key.key)) key",
        "named_struct('count', value.count + 5) value"
      ) union run
      .rows("default")
      .where("key.key = 'c'")
      .selectExpr(
        "key",
        "named_struct('count', 100L) value"
      )
    val deleted =
      spark.sql("select named_struct('key', it) key from (select explode(array('d', 'nobody')) it)")
    val done = run.write("default", Some(put), Some(deleted))
    assert(done.put.contains(3L) && done.deleted.contains(1L))
    val expected =
      before - "d" ++ Map("A" -> (before("a") + 5), "B" -> (before("b") + 5), "c" -> 100L)
    assert(run.counts == expected)
    assert(
      run.answers(Seq(Seq("A", "c", "d", "e").map(event(_, 12)))) == Seq(
        Set(s"[A,${before("a") + 6}]", "[c,101]", "[d,1]", s"[e,${before("e") + 1}]")
      )
    )
  }

  test("a write is undone by a rollback to the batch before it, and done again by its undo") {
    val run = begun()
    val (before, last) = (run.counts, run.newest)
    run.write("default", delete = Some(run.rows("default").where("key.key < 'f'")))
    val after = run.counts
    assert(after == before.filter(_._1 >= "f") && run.newest == last + 1)
    val aside = AdminApi.rollback(spark, run.folder.toString, last, "", dryRun = false)
    assert(run.counts == before)
    val name = "\"aside\":\"([^\"]+)\"".r.findFirstMatchIn(aside).get.group(1)
    AdminApi.undoRollback(spark, run.folder.toString, name)
    assert(run.counts == after)
  }

  test("each of two writes in a row counts") {
    val run = begun()
    val before = run.counts
    run.write("default", delete = Some(run.rows("default").where("key.key = 'a'")))
    run.write("default", delete = Some(run.rows("default").where("key.key = 'b'")))
    assert(run.counts == before - "a" - "b")
    assert(run.answers(second.take(1)).nonEmpty)
  }

  test("rows that do not fit are refused by name, and nothing changes") {
    val run = begun()
    val rows = run.rows("default")
    val cases = Seq(
      rows.selectExpr("key") -> "no column value",
      rows.selectExpr("key", "named_struct('cuont', 1L) value") -> "value has the fields cuont",
      rows.selectExpr("key", "value", "1 as more") -> "the table has no column more",
      rows.selectExpr("key", "named_struct('count', array(1)) value") -> "column value is a STRUCT",
      rows.selectExpr(
        "key",
        "named_struct('count', date'2020-01-01') value"
      ) -> "column value is a STRUCT",
      rows.selectExpr("key", "named_struct('count', 1e30) value") -> "overflow",
      rows.selectExpr("key", "named_struct('count', cast(null as bigint)) value") -> "value.count",
      rows.selectExpr("key", "if(key.key = 'a', null, value) value") -> "value",
      rows.union(
        rows.where("key.key = 'c'")
      ) -> "two of the given rows have the key {\"key\":\"c\"}"
    )
    val before = run.files
    for ((put, reason) <- cases) withClue(s"$reason: ") {
      val error = intercept[Invalid](run.write("default", Some(put)))
      assert(
        error.condition == "KEYFOLD_WRITE_ROWS" && error.getMessage.contains(reason),
        error.getMessage
      )
      assert(error.getMessage.contains("Nothing was changed"))
      assert(run.logs == before.filter(_._1.matches("(offsets|commits)/.*")))
    }
    assert(run.answers(second.take(1)).nonEmpty)
  }

  test("floating-point keys are found however they are written") {
    val run = new Run("count of numbers")
    run.answers(first)
    val put = spark.sql(
      "select named_struct('_groupingexpression', it) key, named_struct('count', 10L) value " +
        "from (select explode(array(double('-0.0'), double('NaN'))) it)"
    )
    run.write("default", Some(put), replaces = true)
    assert(
      run.answers(Seq(Seq(event("zero", 12), event("nan", 12)))) == Seq(Set("[0.0,11]", "[NaN,11]"))
    )
  }

  test("a write that broke off does not take the watermark back") {
    val run = new Run("windows")
    run.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    run.answers(first)
    val expected = run.copied()
    expected.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    val answer = expected.answers(second)
    run.failingAt("commits/.*")(_.write("default", delete = Some(run.rows("default"))))
    assert(run.logs.contains(s"offsets/${run.newest + 1}"))
    assert(answer.nonEmpty && run.answers(second) == answer)
  }

  test("a null inside a value is refused") {
    val run = new Run("mapGroups")
    run.answers(first.take(1))
    val rows = run
      .rows("default")
      .selectExpr(
        "key",
        "named_struct('groupState', named_struct('count', cast(null as int), 'name', 'x'), " +
          "'timeoutTimestamp', value.timeoutTimestamp) value"
      )
    val error = intercept[Invalid](run.write("default", Some(rows)))
    assert(error.getMessage.contains("column: value.groupState.count"), error.getMessage)
  }

  test("rows of a join that has one store are refused in each of its tables") {
    val run = new Run("join")
    run.set("spark.sql.streaming.join.stateFormatVersion", "3")
    run.answers(first.take(1))
    for (table <- Seq("left-keyToNumValues", "left-keyWithIndexToValue", "default")) {
      val refusals = run.plan(table).refusals
      assert(refusals.exists(_.contains("a row of a join is in several tables")), refusals)
    }
  }

  test("what cannot be written is refused with its reason") {
    val cases = Seq(
      ("join", "default") -> "in several tables",
      ("list", "list") -> "is a list",
      ("list", "$rowCounter_list") -> "no such state variable",
      ("count", "nothing") -> "no such table"
    )
    for (((query, table), reason) <- cases) withClue(s"$query $table: ") {
      val run = new Run(query)
      run.answers(first.take(1))
      val refusals = run.plan(table).refusals
      assert(refusals.exists(_.contains(reason)), refusals)
    }
    val run = new Run("count")
    assert(run.plan("default").refusals.exists(_.contains("no committed batch")))
    val expiring = new Run("expiring")
    new ExpiringCounts(spark, expiring.folder).run(1, keys)
    for (table <- Seq("count", "map"))
      assert(expiring.plan(table).refusals.exists(_.contains("rows expire")))
  }

  test("before a batch that was begun and not committed it is refused, and then possible") {
    val run = begun()
    val before = run.counts
    run.answers(second.take(1))
    val open = run.newest
    for (name <- Seq(s"$open", s".$open.crc")) Files.delete(run.folder.resolve(s"commits/$name"))
    val error =
      intercept[Invalid](run.write("default", delete = Some(run.rows("default", Some(run.newest)))))
    val command = s"keyfold rollback file:${run.folder} --to-batch ${run.newest} --apply"
    assert(error.getMessage.contains(command), error.getMessage)
    AdminApi.rollback(spark, run.folder.toString, run.newest, "", dryRun = false)
    run.write("default", delete = Some(run.rows("default").where("key.key = 'd'")))
    assert(run.counts == before - "d")
  }

  test(
    "wherever a write fails, the query goes on with all of it or with none, or it is done again"
  ) {
    val run = begun()
    val before = run.counts
    val delete = run.rows("default").where("key.key < 'f'").cache()
    delete.count()
    val after = before.filter(_._1 >= "f")
    val writes = run.copied().writesOf(_.write("default", delete = Some(delete)))
    assert(writes.exists(_.startsWith("offsets/")) && writes.exists(_.startsWith("commits/")))
    for {
      number <- writes.indices
      failure <- Seq(Failure.Before, Failure.After)
    } withClue(s"write ${number + 1} of ${writes.length}, ${writes(number)}, $failure: ") {
      val it = run.copied()
      it.failing(number + 1, failure)(_.write("default", delete = Some(delete)))
      val found = it.counts
      assert(found == before || found == after)
      val goesOn = it.copied()
      val expected = found.getOrElse("a", 0L) + 1
      assert(goesOn.answers(Seq(Seq(event("a", 12)))) == Seq(Set(s"[a,$expected]")))
      it.write("default", delete = Some(delete))
      assert(it.counts == after)
      assert(it.answers(Seq(Seq(event("a", 12)))) == Seq(Set("[a,1]")))
    }
  }

  test("of a write and a batch of the query that begin at once one counts, whole") {
    val run = begun()
    val rows = run.rows("default").cache()
    rows.count()
    var files = Map.empty[String, Seq[Byte]]
    val slow = rows.where("key.key < 'f'").filter { row: Row =>
      if (keyOf(row) == "a") Overtaking.now()
      true
    }
    Overtaking.now = () => {
      run.answers(second.take(1))
      files = run.logs
    }
    val error =
      try intercept[Invalid](run.write("default", delete = Some(slow)))
      finally Overtaking.now = () => ()
    assert(error.condition == "KEYFOLD_CONCURRENT_UPDATE")
    assert(run.logs == files && files.nonEmpty)
    assert(run.answers(second.drop(1)).nonEmpty)
  }

  test("a file sink's log has no gap after it") {
    val (folder, checkpoint) =
      (Files.createTempDirectory("keyfold-write-sink"), Files.createTempDirectory("keyfold-write"))
    val session = spark
    import session.implicits._
    val input = MemoryStream[Int](session)
    def write(value: Int): Unit = {
      input.addData(value)
      val query = input
        .toDF()
        .dropDuplicates()
        .writeStream
        .format("parquet")
        .option("checkpointLocation", checkpoint.toString)
        .start(folder.toString)
      try query.processAllAvailable()
      finally query.stop()
    }
    write(1)
    write(2)
    val delete = spark.sql("select named_struct('value', 1) key")
    AdminApi.write(
      spark,
      checkpoint.toString,
      0,
      "default",
      null,
      delete,
      replaces = false,
      dryRun = false
    )
    write(1)
    write(2)
    assert(spark.read.parquet(folder.toString).as[Int].collect().sorted.toSeq == Seq(1, 1, 2))
  }

  private def begun(): Run = {
    val run = new Run("count")
    run.answers(first)
    run
  }

  /** One query on one checkpoint. */
  private final class Run(name: String) {
    val folder: Path = Files.createTempDirectory("keyfold-write")
    private val own = spark.newSession()
    private val input = {
      import own.implicits._
      MemoryStream[Event](own)
    }
    private val added = mutable.Buffer.empty[Seq[Event]]

    def copied(): Run = {
      val copy = new Run(name)
      Folders.copy(folder, copy.folder)
      added.foreach(copy.add)
      copy
    }

    private def add(batch: Seq[Event]): Unit = {
      added += batch
      input.addData(batch)
      ()
    }

    def set(key: String, value: String): Unit = own.conf.set(key, value)

    def newest: Long = new CheckpointLogs(own, folder.toString).lastCommitted.get

    /** Starts the query, gives it batches, and stops it: rows that came, a set for each batch. */
    def answers(batches: Seq[Seq[Event]]): Seq[Set[String]] = {
      val found = mutable.Buffer.empty[Set[String]]
      val running = Queries(name)(input.toDF()).writeStream
        .outputMode(if (name.startsWith("count")) "update" else "append")
        .option("checkpointLocation", folder.toString)
        .foreachBatch { (rows: Dataset[Row], _: Long) =>
          found += rows.collect().map(_.toString).toSet
          ()
        }
        .start()
      try
        for (batch <- batches) {
          add(batch)
          running.processAllAvailable()
        }
      finally running.stop()
      found.filter(_.nonEmpty).toSeq
    }

    /** As Spark's own source has them. */
    def rows(table: String, batch: Option[Long] = None): DataFrame = {
      val reader = own.read.format("statestore").option("path", folder.toString)
      if (table != "default") reader.option("stateVarName", table)
      reader.option("batchId", batch.getOrElse(newest)).load()
    }

    def texts(table: String): Set[String] = rows(table).drop("partition_id").toJSON.collect().toSet

    def counts: Map[String, Long] =
      rows("default").collect().map(row => keyOf(row) -> countOf(row)).toMap

    def plan(table: String): StateWritePlan =
      CheckpointTools.using(own, folder.toString)(
        new StateWrite(_, 0, table, None, None, replaces = false).plan()
      )

    def write(
        table: String,
        put: Option[DataFrame] = None,
        delete: Option[DataFrame] = None,
        replaces: Boolean = false
    ): StateWritePlan = CheckpointTools.using(own, folder.toString)(
      new StateWrite(_, 0, table, put, delete, replaces).run()
    )

    /** Paths of the files that something writes, in its order. */
    def writesOf(work: Run => Any): Seq[String] = {
      val faults = faulty()
      work(this)
      faults.plan.calls.filter(_.what == "rename").map(_.path).toSeq
    }

    /** Does something of which one write fails. */
    def failing(number: Int, failure: Failure)(work: Run => Any): Unit = {
      val faults = faulty()
      var seen = 0
      faults.plan.fail(failure) { call =>
        if (call.what == "rename") seen += 1
        seen == number
      }
      try work(this)
      catch { case _: Exception => }
      faults.plan.clear()
    }

    /** Does something of which a write to such a path fails. */
    def failingAt(path: String)(work: Run => Any): Unit = {
      val faults = faulty()
      faults.plan.fail(Failure.Before)(it => it.what == "rename" && it.path.matches(path))
      intercept[Exception](work(this))
      faults.plan.clear()
    }

    private def faulty() = {
      val faults = new FileFaults(folder.toString)
      faults.settings.foreach { case (key, value) => own.conf.set(key, value) }
      faults
    }

    /** Entries of Spark's logs. */
    def logs: Map[String, Seq[Byte]] = files.filter(_._1.matches("(offsets|commits)/.*"))

    def files: Map[String, Seq[Byte]] = Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala
        .filter(path => Files.isRegularFile(path) && !path.toString.endsWith(".crc"))
        .map(path => folder.relativize(path).toString -> Files.readAllBytes(path).toSeq)
        .toMap
    }
  }
}

/** What happens in the middle of a write. */
private object Overtaking {
  @volatile var now: () => Unit = () => ()
}

private object StateWriteSuite {
  private def keyOf(row: Row) = row.getAs[Row]("key").getString(0)
  private def countOf(row: Row) = row.getAs[Row]("value").getLong(0)

  private val Queries: Map[String, DataFrame => DataFrame] = Map(
    "count" -> (_.groupBy("key").count()),
    "count of numbers" -> { events =>
      val number =
        expr("case key when 'zero' then 0.0D when 'nan' then double('NaN') else 1.0D end")
      events.groupBy(number.as("number")).count()
    },
    "counts and more" ->
      (_.groupBy("key")
        .agg(count("*"), avg(unix_timestamp(col("at"))), collect_set("at"), max("at"))),
    "deduplication" -> (_.dropDuplicates("key")),
    "deduplication within the watermark" ->
      (_.withWatermark("at", "30 seconds").dropDuplicatesWithinWatermark("key")),
    "windows" ->
      (_.withWatermark("at", "0 seconds")
        .groupBy(window(col("at"), "5 seconds"), col("key"))
        .count()),
    "session windows" ->
      (_.withWatermark("at", "0 seconds")
        .groupBy(session_window(col("at"), "10 seconds"), col("key"))
        .count()),
    "mapGroups" -> groups,
    "variables" -> (processed(_, new Variables)),
    "variable of keys with a struct" -> structured,
    "list" -> (processed(_, new EventLists)),
    "join" -> { events =>
      val right = events.select(col("key").as("other"), col("at").as("then"))
      events.join(right, expr("key = other"))
    }
  )

  /** Tables that are written, by query. */
  private val Tables = Map(
    "count" -> Seq("default"),
    "counts and more" -> Seq("default"),
    "deduplication" -> Seq("default"),
    "deduplication within the watermark" -> Seq("default"),
    "windows" -> Seq("default"),
    "session windows" -> Seq("default"),
    "mapGroups" -> Seq("default"),
    "variables" -> Seq("count", "map"),
    "variable of keys with a struct" -> Seq("count")
  )

  private def groups(events: DataFrame): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    def work(key: String, rows: Iterator[Event], state: GroupState[Seen]): Iterator[String] =
      if (state.hasTimedOut) {
        val out = s"$key is gone, ${state.get}"
        state.remove()
        Iterator(out)
      } else {
        val seen = state.getOption.fold(Seen(0, ""))(identity)
        state.update(Seen(seen.count + rows.size, key * 2))
        state.setTimeoutTimestamp(state.getCurrentWatermarkMs() + 20000)
        Iterator(s"$key ${state.get}")
      }
    events
      .withWatermark("at", "0 seconds")
      .as[Event]
      .groupByKey(_.key)
      .flatMapGroupsWithState(OutputMode.Append(), GroupStateTimeout.EventTimeTimeout())(work)
      .toDF()
  }

  private def processed(
      events: DataFrame,
      processor: StatefulProcessor[String, Event, String]
  ): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    events
      .withWatermark("at", "0 seconds")
      .as[Event]
      .groupByKey(_.key)
      .transformWithState(processor, TimeMode.EventTime(), OutputMode.Append())
      .toDF()
  }

  private def structured(events: DataFrame): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    events
      .as[Event]
      .groupByKey(it => Place(Name(it.key), it.key.length))
      .transformWithState(new CountOfPlaces, TimeMode.None(), OutputMode.Append())
      .toDF()
  }

  final case class Name(text: String)
  final case class Place(name: Name, length: Int)

  private final class CountOfPlaces extends StatefulProcessor[Place, Event, String] {
    @transient private var count: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      count = getHandle.getValueState[Long]("count", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: Place,
        rows: Iterator[Event],
        timers: TimerValues
    ): Iterator[String] = {
      count.update(Option(count.get()).getOrElse(0L) + rows.size)
      Iterator(s"$key ${count.get()}")
    }
  }

  final case class Seen(count: Int, name: String)

  /** For each key: how many rows it had, and how many in each second. */
  private final class Variables extends StatefulProcessor[String, Event, String] {
    @transient private var count: ValueState[Long] = _
    @transient private var map: MapState[Timestamp, Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
      count = getHandle.getValueState[Long]("count", Encoders.scalaLong, TTLConfig.NONE)
      map = getHandle
        .getMapState[Timestamp, Long]("map", Encoders.TIMESTAMP, Encoders.scalaLong, TTLConfig.NONE)
    }

    override def handleInputRows(
        key: String,
        rows: Iterator[Event],
        timers: TimerValues
    ): Iterator[String] = {
      for (row <- rows) {
        count.update(Option(count.get()).getOrElse(0L) + 1)
        map.updateValue(row.at, Option(map.getValue(row.at)).getOrElse(0L) + 1)
      }
      Iterator(s"$key ${count.get()} ${map.iterator().toSeq.map(_.toString).sorted.mkString(",")}")
    }
  }

  private final class EventLists extends StatefulProcessor[String, Event, String] {
    @transient private var list: ListState[Timestamp] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      list = getHandle.getListState[Timestamp]("list", Encoders.TIMESTAMP, TTLConfig.NONE)

    override def handleInputRows(
        key: String,
        rows: Iterator[Event],
        timers: TimerValues
    ): Iterator[String] = {
      rows.foreach(it => list.appendValue(it.at))
      Iterator(key)
    }
  }
}
