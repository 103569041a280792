package io.keyfold.spark.admin.write

import java.nio.file.{Files, Path}
import java.sql.Timestamp

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.spark.{
  Answers,
  EventCounts,
  ExpiringCounts,
  FileFaults,
  KeyfoldExtensions,
  LocalSpark,
  QuietLogs
}
import io.keyfold.spark.EventCounts.{event, Event}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import io.keyfold.spark.rewrite.StateDigest
import io.keyfold.testkit.{Failure, Folders}
import org.apache.spark.SparkException
import org.apache.spark.sql.{DataFrame, Encoders, Row}
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

  /** Some, or as many as `KEYFOLD_WRITE_KEYS` says: 1,000,000 take minutes and 8 GB of heap. */
  private val keys = {
    val more = sys.env.get("KEYFOLD_WRITE_KEYS").fold(0)(_.toInt)
    ('a' to 'p').map(_.toString) ++ (16 until more).map(number => s"key $number")
  }
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
      assert(tables.forall(seeded.rows(_).count() > 0) && seeded.state == original.state)
      val answer = original.answers(second)
      assert(answer.nonEmpty && seeded.answers(second) == answer)
      assert(seeded.state == original.state)
    }

  for ((name, tables) <- Tables)
    test(s"$name: bootstrapped and seeded, it goes on as the query that ran") {
      val (original, seeded) = (new Run(name), new Run(name))
      original.answers(first)
      seeded.bootstrap(original.watermarkMs)
      assert(seeded.newest == 0 && seeded.rowCount == 0)
      for (table <- tables) seeded.write(table, put = Some(original.rows(table)))
      assert(seeded.state == original.state)
      val answer = original.answers(second)
      assert(answer.nonEmpty && seeded.answers(second) == answer)
      assert(seeded.state == original.state)
    }

  test(
    "a checkpoint is made of an empty folder, by a session with Keyfold, for a query with state"
  ) {
    val run = begun()
    val (again, stateless, other) = (new Run("count"), new Run("no state"), new Run("count"))
    val before = run.files
    other.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "1")
    for {
      (it, reason) <- Seq(
        run -> "is not empty",
        stateless -> "no stateful operator",
        other -> "checkpointFormatVersion is not 2"
      )
    } withClue(s"$reason: ") {
      val error = intercept[Invalid](it.bootstrap(0))
      assert(error.getMessage.contains(reason), error.getMessage)
    }
    assert(run.files == before && stateless.files.isEmpty)
    again.bootstrap(0)
    assert(again.answers(first).nonEmpty && again.counts == run.counts)
    val left = again.folder.getParent.toFile.list.filter(_.contains(".bootstrap-"))
    assert(left.isEmpty, left.mkString(", "))
  }

  for (name <- Seq("union of one source", "count in SQL with a part that is named"))
    test(s"$name: a checkpoint that was made for it is taken by its first run") {
      val (expected, run) = (new Run(name), new Run(name))
      run.bootstrap(0)
      val answer = expected.answers(first)
      assert(answer.nonEmpty && run.answers(first) == answer)
    }

  for (format <- Seq(2, 3))
    test(s"a join with state format $format: seeded, it goes on as the query that ran") {
      def run = {
        val it = new Run("outer join")
        it.set("spark.sql.streaming.join.stateFormatVersion", s"$format")
        it
      }
      val (original, seeded) = (run, run)
      original.answers(first)
      if (format == 2) seeded.answers(others) else seeded.bootstrap(original.watermarkMs)
      for (side <- Seq("left", "right"))
        seeded.write(side, put = Some(original.side(side)), replaces = true)
      assert(seeded.state == original.state && seeded.rowCount > 0)
      val key = original.side("left").where("key.field0 = 'd'").select("key").distinct()
      for (it <- Seq(original, seeded)) assert(it.write("left", delete = Some(key)).deleted.get > 0)
      val answer = original.answers(second)
      assert(answer.nonEmpty && seeded.answers(second) == answer)
      assert(seeded.state == original.state)
    }

  test("what expires: seeded, it expires as in the query that ran") {
    val (original, seeded) = (new Run("expiring"), new Run("expiring"))
    val its = new ExpiringCounts(spark, original.folder)
    val others = new ExpiringCounts(spark, seeded.folder)
    for (minute <- Seq(0L, 20L)) {
      its.run(minute, keys.take(if (minute > 0) 5 else 9))
      others.run(minute, keys.drop(7))
    }
    for (table <- Seq("count", "list", "map"))
      seeded.write(table, Some(original.rows(table)), replaces = true)
    for (time <- Seq("null", "-1L")) {
      val value = s"named_struct('value', value.value, 'ttlExpirationMs', $time) value"
      val error = intercept[Invalid](
        seeded.write("count", Some(original.rows("count").selectExpr("key", value)))
      )
      assert(error.getMessage.contains("no time at which it expires"), error.getMessage)
    }
    assert(seeded.state == original.state && seeded.rowCount > 9)
    for (minute <- Seq(30L, 65L, 81L)) {
      val answer = its.run(minute, keys)
      assert(others.run(minute, keys) == answer)
      assert(seeded.state == original.state)
    }
  }

  test("of a list the given rows are all that a key has, in their order; others stay") {
    val run = new Run("events")
    run.answers(first)
    val put = spark.sql(
      "select named_struct('value', it.key) key, named_struct('value', it.second) list_element " +
        "from (select explode(array(named_struct('key', 'a', 'second', 3L), named_struct('key', 'a', 'second', 1L), " +
        "named_struct('key', 'a', 'second', 2L))) it)"
    )
    val delete = spark.sql("select named_struct('value', 'b') key")
    val done = run.write("list", Some(put), Some(delete))
    assert(done.put.contains(3L) && done.deleted.contains(2L))
    val answer = run.answers(Seq(Seq("a", "b", "c").map(event(_, 12)))).head
    assert(answer.exists(_.startsWith("[a 3 3,1,2,12 ")) && answer.exists(_.startsWith("[b 3 12 ")))
    assert(answer.exists(_.startsWith("[c 3 1,8,12 ")))
    val both = intercept[Invalid](
      run.write("list", Some(put), Some(spark.sql("select named_struct('value', 'a') key")))
    )
    assert(both.getMessage.contains("and not both"), both.getMessage)
  }

  test("rows that replace all others need none of the old files but the newest") {
    val run = begun()
    val rows = run.rows("default").localCheckpoint()
    val before = run.counts
    for (file <- run.files.keys if file.matches("state/0/\\d+/1_.*delta"))
      Files.delete(run.folder.resolve(file))
    intercept[SparkException](run.write("default", put = Some(rows.limit(1))))
    val twice = intercept[Invalid](
      run.write("default", put = Some(rows.union(rows.where("key.key = 'c'"))), replaces = true)
    )
    assert(twice.getMessage.contains("two of the given rows have the key"), twice.getMessage)
    val done = run.write("default", put = Some(rows), replaces = true)
    assert(done.put.contains(before.size.toLong) && done.deleted.isEmpty)
    assert(run.counts == before)
    // The hash of a row is known as before.
    AdminApi.rescale(spark, run.folder.toString, 5, dryRun = false)
    run.set("spark.sql.shuffle.partitions", "5")
    assert(run.answers(Seq(Seq(event("a", 12)))) == Seq(Set(s"[a,${before("a") + 1}]")))
  }

  test("where a variable is replaced, one that the last run did not declare keeps its rows") {
    val both = new Run("variables a and b")
    both.answers(first)
    val one = both.copied(as = "variable a")
    one.answers(Seq(Seq(event("a", 12))))
    one.write("a", put = Some(one.rows("a")), replaces = true)
    val again = one.copied(as = "variables a and b")
    assert(again.answers(Seq(Seq(event("a", 13)))) == Seq(Set("[a a=4 b=3]")))
  }

  test("soon after a rescale, a write builds on the files that show that it took place") {
    val run = begun()
    AdminApi.rescale(spark, run.folder.toString, 5, dryRun = false)
    val rows = run.rows("default").localCheckpoint()
    val before = run.counts
    run.write("default", put = Some(rows), replaces = true)
    assert(run.counts == before)
    val written = run.files.keys.filter(_.matches(s"state/0/\\d+/${run.newest + 1}_.*"))
    assert(written.size == 5 && written.forall(_.endsWith(".delta")), written)
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
      rows.selectExpr("key", "value", "value") -> "two columns value",
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

  test("what cannot be written is refused with its reason") {
    val cases = Seq(
      ("join", "left-keyToNumValues") -> "the tables left and right are written",
      ("events", "$rowCounter_list") -> "there are count, list, map, timers",
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

    def copied(as: String = name): Run = {
      val copy = new Run(as)
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
    def answers(batches: Seq[Seq[Event]]): Seq[Set[String]] =
      Answers.of(Queries(name)(input.toDF()), mode, folder, batches)(add)

    def bootstrap(watermarkMs: Long): Unit = AdminApi.bootstrap(
      own,
      Queries(name)(input.toDF()),
      folder.toString,
      mode,
      watermarkMs
    )

    /** After the last batch. */
    def watermarkMs: Long = {
      val entry = Files.readString(folder.resolve(s"commits/$newest"))
      "\"nextBatchWatermarkMs\":(\\d+)".r.findFirstMatchIn(entry).get.group(1).toLong
    }

    private def mode = if (name.startsWith("count")) "update" else "append"

    /** As Spark's own source has them. */
    def rows(table: String, batch: Option[Long] = None): DataFrame = {
      val reader = own.read.format("statestore").option("path", folder.toString)
      if (table == "timers") reader.option("readRegisteredTimers", "true")
      else if (table != "default") reader.option("stateVarName", table)
      reader.option("batchId", batch.getOrElse(newest)).load()
    }

    /** Rows of a side of a join, in the order of each key. */
    def side(name: String): DataFrame = {
      val rows = own.read
        .format("statestore")
        .option("storeName", s"$name-keyWithIndexToValue")
        .load(folder.toString)
        .orderBy("key.index")
      val (key, value) = (Seq("key.field0"), rows.select("value.*").columns.filter(_ != "matched"))
      val columns = Seq(
        struct(key.map(col(_).as("field0")): _*).as("key"),
        struct(value.toIndexedSeq.map(it => col(s"value.$it")): _*).as("value")
      )
      rows.select(columns :+ col("value.matched"): _*)
    }

    def state: Map[String, (Int, Long)] = StateDigest.of(own, folder.toString)

    def rowCount: Int = state.values.map(_._1).sum

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
    "no state" -> (_.where("key > 'b'")),
    "union of one source" ->
      (events => events.where("key > 'b'").union(events.where("key < 'e'")).dropDuplicates("key")),
    "count in SQL with a part that is named" -> { events =>
      events.createOrReplaceTempView("events")
      events.sparkSession.sql(
        "with named as (select key, at from events where key > 'b') select key, count(*) from named group by key"
      )
    },
    "count" -> (_.groupBy("key").count()),
    "variables a and b" -> (Variables.of(_, "a", "b")),
    "variable a" -> (Variables.of(_, "a")),
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
    "events" -> (processed(_, new EventCounts.Everything)),
    "join" -> { events =>
      val right = events.select(col("key").as("other"), col("at").as("then"))
      events.join(right, expr("key = other"))
    },
    "outer join" -> { events =>
      val left = events.withWatermark("at", "0 seconds")
      val right = events
        .select(col("key").as("other"), col("at").as("then"))
        .withWatermark("then", "0 seconds")
        .where("other < 'f'")
      val isNear =
        expr("key = other and then between at - interval 2 seconds and at + interval 8 seconds")
      left.join(right, isNear, "left_outer")
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
    "events" -> Seq("count", "list", "map", "timers"),
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
}

/** Counts the events of each key, once for each name. */
private final class Variables(names: Seq[String]) extends StatefulProcessor[String, Event, String] {
  @transient private var counts: Seq[(String, ValueState[Long])] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    counts = names.map { it =>
      it -> getHandle.getValueState[Long](it, Encoders.scalaLong, TTLConfig.NONE)
    }

  override def handleInputRows(
      key: String,
      rows: Iterator[Event],
      timers: TimerValues
  ): Iterator[String] = {
    val more = rows.size
    val now = counts.map { case (name, count) =>
      count.update(Option(count.get()).getOrElse(0L) + more)
      s"$name=${count.get()}"
    }
    Iterator(s"$key ${now.mkString(" ")}")
  }
}

private object Variables {
  def of(events: DataFrame, names: String*): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    events
      .as[Event]
      .groupByKey(_.key)
      .transformWithState(new Variables(names), TimeMode.None(), OutputMode.Append())
      .toDF()
  }
}
