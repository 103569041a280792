package io.keyfold.spark.admin.evolve

import java.io.File
import java.nio.file.Files

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.evolve.EvolvedQuery.{Flight, FlightDelays, FlightTimers}
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.spark.{KeyfoldExtensions, KeyfoldStateStoreProvider, LocalSpark, QuietLogs}
import io.keyfold.testkit.Failure
import org.apache.commons.io.FileUtils
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.streaming.GroupStateTimeout
import org.scalatest.funsuite.AnyFunSuite

/** A query that was changed goes on with its state, and answers as if it had been so from the
  * beginning, over the past that the rules say.
  */
class EvolutionSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import EvolutionSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> classOf[KeyfoldExtensions].getName,
    "spark.sql.shuffle.partitions" -> "2",
    "spark.sql.streaming.stateStore.providerClass" -> classOf[KeyfoldStateStoreProvider].getName,
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> "2",
    "spark.sql.session.timeZone" -> "UTC"
  )

  for (change <- Changes)
    test(change.name) {
      val before = run(change.old)
      before.answers(First)
      val old = Option.when(change.isGiven)(change.old)
      val (after, plan) = evolved(before, change.fresh, change.choices, old)
      assert(plan.rows.exists(_ > 0))
      val expected = run(change.fresh)
      expected.answers(First.map(_.map(change.past)))
      val answers = after.answers(Second)
      assert(answers.nonEmpty && answers == expected.answers(Second))
      if (change.hasSameBytes) assert(after.digest == expected.digest)
    }

  for (provider <- ProviderClass.BuiltIn)
    test(s"of a checkpoint of ${provider.split('.').last}") {
      val before = run(_.groupBy("carrier").agg(count("*")))
      before.set("spark.sql.streaming.stateStore.providerClass", provider)
      before.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "1")
      before.answers(First)
      // As a rescale to fewer partitions leaves one.
      val partitions = before.folder.resolve("state/0").toFile
      FileUtils.copyDirectory(new File(partitions, "1"), new File(partitions, "2"))
      val fresh = (flights: DataFrame) => flights.groupBy("carrier").agg(max("delay"), count("*"))
      val (after, _) = evolved(before, fresh, none)
      val expected = run(fresh)
      expected.answers(First.map(_.map(_.copy(delay = None))))
      assert(after.answers(Second) == expected.answers(Second))
    }

  test("after a write of rows, and after one that broke off") {
    val query = (flights: DataFrame) => flights.groupBy("carrier").agg(count("*"))
    val before = run(query)
    before.answers(First)
    before.delete("carrier", "a")
    val (after, plan) = evolved(before, query, none)
    assert(plan.lastBatch == 2)
    val expected = run(query)
    expected.answers(First.map(_.filter(_.carrier != "a")))
    assert(after.answers(Second) == expected.answers(Second))
    Files.delete(before.folder.resolve("commits/2"))
    Files.deleteIfExists(before.folder.resolve("commits/.2.crc"))
    val (again, _) = evolved(before, query, none)
    val whole = run(query)
    whole.answers(First)
    assert(again.answers(Second) == whole.answers(Second))
  }

  test("what a query begins with is not taken once more") {
    val query = EvolvedQuery.beginning _
    val before = run(query)
    before.answers(First)
    val (after, _) = evolved(before, query, none)
    assert(after.digest == before.digest)
    assert(after.answers(Second) == before.answers(Second))
  }

  test("wherever a write fails, nothing is there that starts, or all") {
    val query = (flights: DataFrame) => flights.groupBy("carrier").agg(count("*"))
    val before = run(query)
    before.answers(First)
    val files = before.files
    val expected = run(query)
    expected.answers(First)
    val answers = expected.answers(Second)
    for {
      path <- Seq("state/0/1/.*", "offsets/1", "commits/1")
      failure <- Seq(Failure.Before, Failure.After)
    } withClue(s"$path, $failure: ") {
      val after = run(query)
      after.add(First)
      after.failingAt(path, failure)(before.evolve(after, none, None, dryRun = false))
      assert(before.files == files)
      // Without both Spark does not start.
      if (!Set("offsets/1", "commits/1").subsetOf(after.files.keySet)) {
        after.clear()
        before.evolve(after, none, None, dryRun = false)
      }
      assert(after.answers(Second) == answers)
    }
  }

  for (provider <- Seq(ProviderClass.Keyfold, ProviderClass.BuiltIn.last))
    test(s"${provider.split('.').last}: variables that the last run did not declare are told") {
      val first = run(FlightDelays.of(changed = false))
      first.set("spark.sql.streaming.stateStore.providerClass", provider)
      first.answers(First)
      val before = new EvolvedQuery(spark, first.folder, FlightDelays.of(changed = true))
      before.add(First)
      before.answers(Second)
      val plan = planned(before, FlightDelays.of(changed = true), none)
      val lost =
        for (name <- Seq("minutes", "total"))
          yield s"variable $name of operator 0, which the last run of the query before did not declare"
      assert(plan.lost == lost, plan)
    }

  test("without Spark's metadata of its operators they are taken to be those of the query") {
    val query = (flights: DataFrame) => flights.groupBy("carrier").agg(count("*"))
    val before = run(query)
    before.answers(First)
    Files.delete(before.folder.resolve("state/0/_metadata/metadata"))
    val (after, plan) = evolved(before, query, none)
    assert(plan.warnings.exists(_.contains("does not say what its operators are")))
    val expected = run(query)
    expected.answers(First)
    assert(after.answers(Second) == expected.answers(Second))
    val two = (flights: DataFrame) => query(late(flights).dropDuplicates("carrier", "at"))
    val refusals = planned(before, two, none).refusals
    assert(refusals.exists(_.contains("has state of the operators 0")), refusals)
  }

  test("aggregates that only the query tells apart are found in the query before") {
    val old = (flights: DataFrame) =>
      flights.groupBy("carrier").agg(sum("delay"), sum("distance"), count("*"))
    val fresh = (flights: DataFrame) => flights.groupBy("carrier").agg(count("*"), sum("distance"))
    val before = run(old)
    before.answers(First)
    val refused = planned(before, fresh, none)
    assert(refused.refusals.exists(_.contains("give the query before with --from")), refused)
    val after = run(fresh)
    after.add(First)
    val plan = before.evolve(after, none, Some(old), dryRun = false)
    assert(plan.lost == Seq("column value.sum of operator 0"), plan)
    val expected = run(fresh)
    expected.answers(First)
    assert(after.answers(Second) == expected.answers(Second))
    val other = (flights: DataFrame) => flights.groupBy("carrier").agg(count("*"), sum("delay"))
    val refusals = before.evolve(run(fresh), none, Some(other), dryRun = true).refusals
    assert(refusals.exists(_.contains("has other aggregates than the one that wrote")), refusals)
  }

  test("constant dates and times tell aggregates apart, and the time of a batch does not") {
    val past = Seq(
      "day < DATE'2023-11-14'",
      "day < DATE'2023-11-15'",
      "at < TIMESTAMP'2023-11-14 22:12:00'",
      "at < to_timestamp('2023-11-14 22:13:00')",
      "at < current_timestamp()",
      "at < now()",
      "day <= current_date()",
      "cast(at as timestamp_ntz) < localtimestamp()"
    )
    def counted(conditions: Seq[String])(flights: DataFrame) = {
      val counts = conditions.map(it => expr(s"count(*) filter (where $it)"))
      flights
        .withColumn("day", to_date(col("at")))
        .groupBy("carrier")
        .agg(counts.head, counts.tail: _*)
    }
    val before = run(counted(past))
    before.answers(First)
    val fresh = counted(past.reverse) _
    val (after, _) = evolved(before, fresh, none, Some(counted(past)))
    val expected = run(fresh)
    expected.answers(First)
    assert(after.answers(Second) == expected.answers(Second))
    val changed = counted(past.updated(0, "day < DATE'2023-11-13'")) _
    val plan = before.evolve(run(changed), none, Some(counted(past)), dryRun = true)
    val starts = plan.operators.head.tables.head.columns.map(_.source)
    assert(starts.count(_ == "starts empty") == 1 && starts(1) == "starts empty", plan)
    assert(plan.lost == Seq("column value.count of operator 0"), plan)
    assert(plan.warnings.exists(_.contains("starts empty while columns are lost")), plan)
  }

  test("of what is written alike the order decides, which the plan says") {
    val (longer, later) = (udf((it: Int) => it + 1), udf((it: Int) => it + 2))
    val old = (flights: DataFrame) =>
      flights
        .groupBy(longer(length(col("carrier"))), later(length(col("carrier"))))
        .agg(max(longer(col("delay"))), max(later(col("delay"))), count("*"))
    val before = run(old)
    before.answers(First)
    val warnings = before.evolve(run(old), none, Some(old), dryRun = true).warnings
    for (
      path <- Seq(
        "key._groupingexpression",
        "key._groupingexpression_2",
        "value.max",
        "value.max_2"
      )
    )
      assert(
        warnings.exists(it => it.contains(s"$path takes $path") && it.contains("--set")),
        warnings
      )
    val swapped = choices(set = Seq("0.value.max=value.max_2", "0.value.max_2=value.max"))
    val fewer = before.evolve(run(old), swapped, Some(old), dryRun = true).warnings
    assert(!fewer.exists(_.contains("value.max takes")), fewer)
  }

  test("another size of windows is warned of, and refused if the query before is given") {
    def sized(minutes: Int)(flights: DataFrame) =
      late(flights)
        .groupBy(window(col("at"), s"$minutes minutes", "5 minutes"), col("carrier"))
        .agg(count("*"))
    val before = run(sized(10))
    before.answers(First)
    assert(planned(before, sized(20), none).warnings.exists(_.contains("key.window")))
    val refusals = before.evolve(run(sized(20)), none, Some(sized(10)), dryRun = true).refusals
    assert(refusals.exists(_.contains("was no grouping column")), refusals)
  }

  test("a timeout of another kind of time is warned of, and refused if the query before is given") {
    def timed(kind: GroupStateTimeout)(flights: DataFrame) =
      EvolvedQuery.groups(withOrigin = false, kind)(late(flights))
    val fresh = timed(GroupStateTimeout.ProcessingTimeTimeout()) _
    val old = timed(GroupStateTimeout.EventTimeTimeout()) _
    val before = run(old)
    before.answers(First.take(1))
    def isWarned(plan: EvolutionPlan) =
      plan.warnings.exists(_.contains("check that the query before had ProcessingTimeTimeout too"))
    assert(isWarned(planned(before, fresh, none)))
    def refusals(fresh: Query, choices: Choices) =
      before.evolve(run(fresh), choices, Some(old), dryRun = true).refusals
    assert(refusals(fresh, none).exists(_.contains("and was EventTimeTimeout")))
    val set = choices(set = Seq("0.value.timeoutTimestamp=-1L"))
    assert(refusals(fresh, set).isEmpty && refusals(old, none).isEmpty)
    assert(!isWarned(planned(before, fresh, set)))
  }

  test("what cannot be carried over is refused by name, and nothing is written") {
    val both = (flights: DataFrame) => flights.groupBy("carrier", "origin").agg(count("*"))
    val cases: Seq[(Query, Query, Choices, String)] = Seq(
      (
        _.groupBy("carrier", "origin").agg(first("delay")),
        _.groupBy("carrier").agg(first("delay")),
        none,
        "first(delay) of several groups is not what it would be"
      ),
      (
        _.groupBy("carrier").agg(count("*")),
        both,
        none,
        "column key.origin of operator 0 is not in the checkpoint"
      ),
      (
        _.groupBy("carrier").agg(collect_list("delay")),
        _.groupBy("carrier").agg(collect_list(col("delay").cast("bigint"))),
        none,
        "no checkpoint says what its bytes are: give the query before with --from"
      ),
      (
        _.groupBy("carrier").agg(max("delay")),
        _.groupBy("carrier").agg(max(col("delay").cast("string"))),
        none,
        "is a STRING and was a INT"
      ),
      (
        flights => joined(flights),
        flights => joined(flights.withColumnRenamed("at", "when").withColumn("at", col("when"))),
        choices(map = Seq("0/left=0/right", "0/right=0/left")),
        "no column of 0/right but its key"
      ),
      (
        _.dropDuplicates("carrier"),
        flights => flights.dropDuplicates("carrier").union(flights.dropDuplicates("carrier")),
        choices(sources = Seq("0", "new")),
        "everal operators of the checkpoint and of the query are like operator"
      ),
      (
        _.groupBy("carrier").agg(max("origin")),
        _.groupBy("carrier").agg(max("delay")),
        none,
        "column value.max of operator 0 is a INT and was a STRING"
      ),
      (
        FlightTimers.of(changed = false),
        FlightTimers.hidden,
        none,
        "Operator 0 of the query has timers and a state variable timers"
      ),
      (
        FlightTimers.hidden,
        FlightTimers.of(changed = false),
        none,
        "Operator 0 of the checkpoint has timers and a state variable timers"
      ),
      (both, both, choices(set = Seq("0.value.nothing=1")), "has no column value.nothing"),
      (both, both, choices(set = Seq("0.value.count=1 +")), "no expression of SQL: ["),
      (both, both, choices(set = Seq("0.value.count=nothing")), "cannot be computed"),
      (both, both, choices(map = Seq("1=0")), "checkpoint has no operator 1"),
      (both, both, choices(sources = Seq("0", "new")), "and --sources has 2"),
      (both, _.where("delay > 0"), none, "no stateful operator"),
      (
        flights => joined(flights),
        _.groupBy("carrier").agg(count("*")),
        none,
        "The query reads 1 sources and the checkpoint has offsets of 2"
      )
    )
    for ((old, fresh, choices, reason) <- cases) withClue(s"$reason: ") {
      val before = run(old)
      before.answers(First.take(1))
      val files = before.files
      val after = run(fresh)
      val refusals =
        try before.evolve(after, choices, None, dryRun = true).refusals
        catch { case e: Invalid => Seq(e.getMessage) }
      assert(refusals.exists(_.contains(reason)), refusals)
      intercept[Invalid](before.evolve(after, choices, None, dryRun = false))
      assert(before.files == files && after.files.isEmpty)
      val left = after.folder.getParent.toFile.list.filter(_.contains(".evolve-"))
      assert(left.isEmpty, left.mkString(", "))
    }
  }

  private def run(query: Query) =
    new EvolvedQuery(spark, Files.createTempDirectory("keyfold-evolve"), query)

  private def evolved(
      before: EvolvedQuery,
      fresh: Query,
      choices: Choices,
      old: Option[Query] = None
  ) = {
    val after = run(fresh)
    after.add(First)
    (after, before.evolve(after, choices, old, dryRun = false))
  }

  private def planned(before: EvolvedQuery, fresh: Query, choices: Choices) =
    before.evolve(run(fresh), choices, None, dryRun = true)
}

private object EvolutionSuite {
  type Query = DataFrame => DataFrame

  private def flight(carrier: String, origin: String, delay: Int, minute: Int) =
    Flight(carrier, origin, Some(delay), delay.toLong * 100, EvolvedQuery.at(minute))

  private val First = Seq(
    for (carrier <- "abcdefgh".map(_.toString); n <- 1 to 3)
      yield flight(carrier, s"${"xyz" (n % 3)}", n * 7, n),
    Seq(flight("a", "x", 50, 4), flight("b", "y", 2, 5), flight("z", "z", 1, 6))
  )
  private val Second = Seq(
    Seq(flight("a", "x", 60, 7), flight("b", "q", 1, 7), flight("n", "x", 5, 8)),
    for (carrier <- "abcn".map(_.toString)) yield flight(carrier, "y", 11, 9),
    Seq(flight("z", "x", 100, 60))
  )

  private def choices(
      map: Seq[String] = Nil,
      set: Seq[String] = Nil,
      sources: Seq[String] = Nil
  ) = Choices.of(map, set, sources)
  private val none = choices()

  /** @param past
    *   what the rows before the change are for the changed query
    * @param isGiven
    *   whether the query before is given, which tells apart what names do not
    * @param hasSameBytes
    *   whether merged buffers are those of an aggregation of all rows, and not only give its answer
    */
  private final case class Change(
      name: String,
      old: Query,
      fresh: Query,
      choices: Choices = none,
      past: Flight => Flight = identity,
      isGiven: Boolean = false,
      hasSameBytes: Boolean = true
  )

  private def late(flights: DataFrame, delay: String = "0 seconds") =
    flights.withWatermark("at", delay)
  private def joined(flights: DataFrame, more: String*): DataFrame = {
    val right =
      late(flights).selectExpr("carrier as other", "origin as its", "at as then").where("its = 'x'")
    val left = late(flights).select(col("carrier") +: col("at") +: more.map(col): _*)
    left.join(
      right,
      expr("carrier = other and then between at - interval 2 minutes and at + interval 9 minutes"),
      "left_outer"
    )
  }

  private val Changes = Seq(
    Change(
      "an aggregate is added and starts empty",
      _.groupBy("carrier").agg(count("*")),
      _.groupBy("carrier").agg(count("*"), max("delay"), avg("delay"), collect_list("delay")),
      past = _.copy(delay = None)
    ),
    Change(
      "an aggregate is added and starts from an expression",
      _.groupBy("carrier").agg(count("*")),
      _.groupBy("carrier").agg(count("*"), sum("delay")),
      choices(set = Seq("0.value.sum=value.count * 10")),
      _.copy(delay = Some(10))
    ),
    Change(
      "nothing is changed, with an average, a sum and a count",
      _.groupBy("carrier").agg(avg("delay"), sum("distance"), count("*")),
      _.groupBy("carrier").agg(avg("delay"), sum("distance"), count("*"))
    ),
    Change(
      "nothing is changed, and the query before is given",
      late(_)
        .groupBy(window(col("at"), "10 minutes", "5 minutes"), upper(col("carrier")))
        .agg(count("*"), collect_list("delay"), first("origin")),
      late(_)
        .groupBy(window(col("at"), "10 minutes", "5 minutes"), upper(col("carrier")))
        .agg(count("*"), collect_list("delay"), first("origin")),
      isGiven = true
    ),
    Change(
      "a deduplication goes by days",
      _.dropDuplicates("carrier", "at"),
      _.withColumn("at", to_date(col("at"))).dropDuplicates("carrier", "at")
    ),
    Change(
      "an approximate count gets another precision and starts anew",
      _.groupBy("carrier").agg(approx_count_distinct("delay"), count("*")),
      _.groupBy("carrier").agg(approx_count_distinct("delay", 0.2), count("*")),
      past = _.copy(delay = None)
    ),
    Change(
      "an aggregate is removed",
      _.groupBy("carrier").agg(count("*"), sum("delay"), max("origin")),
      _.groupBy("carrier").agg(count("*"), max("origin"))
    ),
    Change(
      "aggregates are in another order",
      _.groupBy("carrier")
        .agg(count("*"), avg("delay"), max("origin"), approx_count_distinct("origin")),
      _.groupBy("carrier")
        .agg(approx_count_distinct("origin"), max("origin"), avg("delay"), count("*"))
    ),
    Change(
      "a column is wider",
      _.groupBy("carrier").agg(max("delay"), sum("delay")),
      _.groupBy("carrier").agg(max(col("delay").cast("bigint")), sum(col("delay").cast("double")))
    ),
    Change(
      "a grouping column has another name and type",
      _.groupBy("carrier", "delay").agg(count("*")),
      _.select(col("carrier").as("airline"), col("delay").cast("bigint"))
        .groupBy("airline", "delay")
        .agg(count("*")),
      choices(set = Seq("0.key.airline=key.carrier"))
    ),
    Change(
      "grouping columns are in another order",
      _.groupBy("carrier", "origin").agg(count("*"), min("delay")),
      _.groupBy("origin", "carrier").agg(count("*"), min("delay"))
    ),
    Change(
      "a grouping column is dropped",
      _.groupBy("carrier", "origin")
        .agg(
          count("*"),
          sum("delay"),
          avg("delay"),
          min("delay"),
          max("origin"),
          approx_count_distinct("delay")
        ),
      _.groupBy("carrier")
        .agg(
          count("*"),
          sum("delay"),
          avg("delay"),
          min("delay"),
          max("origin"),
          approx_count_distinct("delay")
        )
    ),
    Change(
      "a grouping column is dropped from sketches",
      _.groupBy("carrier", "origin")
        .agg(expr("hll_sketch_agg(delay)").as("it"))
        .select(col("carrier"), expr("hll_sketch_estimate(it)")),
      _.groupBy("carrier")
        .agg(expr("hll_sketch_agg(delay)").as("it"))
        .select(col("carrier"), expr("hll_sketch_estimate(it)")),
      isGiven = true,
      hasSameBytes = false
    ),
    Change(
      "a grouping column becomes an aggregate",
      _.groupBy("carrier", "delay").agg(count("*")),
      _.groupBy("carrier").agg(max("delay"), count("*")),
      choices(set = Seq("0.value.max=key.delay"))
    ),
    Change(
      "a grouping column that is given by name is narrowed",
      _.groupBy("carrier", "at").agg(count("*")),
      _.withColumn("at", to_date(col("at"))).groupBy("carrier", "at").agg(count("*")),
      choices(set = Seq("0.key.at=key.at"))
    ),
    Change(
      "all grouping columns are dropped",
      _.groupBy("carrier").agg(count("*"), sum("delay")),
      _.agg(count("*"), sum("delay"))
    ),
    Change(
      "a list and a filtered count are told apart by the query before",
      _.groupBy("carrier")
        .agg(count("*"), expr("count(*) filter (where delay > 9)"), collect_list("delay")),
      _.groupBy("carrier")
        .agg(collect_list("delay"), expr("count(*) filter (where delay > 9)"), count("*")),
      isGiven = true
    ),
    Change(
      "computed grouping columns are told apart by the query before",
      _.groupBy(upper(col("carrier")), lower(col("origin"))).agg(count("*")),
      _.groupBy(lower(col("origin")), upper(col("carrier"))).agg(count("*")),
      isGiven = true
    ),
    Change(
      "the grouping column of sessions has another name",
      late(_).groupBy(session_window(col("at"), "10 minutes"), col("carrier")).agg(count("*")),
      late(_)
        .withColumnRenamed("carrier", "airline")
        .groupBy(session_window(col("at"), "10 minutes"), col("airline"))
        .agg(count("*")),
      choices(set = Seq("0.key.airline=key.carrier"))
    ),
    Change(
      "a grouping column is added, of which the past has one value",
      _.groupBy("carrier").agg(count("*")),
      _.groupBy("carrier", "origin").agg(count("*")),
      choices(set = Seq("0.key.origin='?'")),
      _.copy(origin = "?")
    ),
    Change(
      "a grouping column is computed anew",
      _.groupBy("carrier", "origin").agg(sum("delay")),
      _.groupBy(upper(col("carrier")).as("carrier")).agg(sum("delay")),
      choices(set = Seq("0.key._groupingexpression=upper(key.carrier)"))
    ),
    Change(
      "windows get another aggregate, and wait longer for late rows",
      late(_).groupBy(window(col("at"), "10 minutes"), col("carrier")).agg(count("*")),
      _.withWatermark("at", "20 minutes")
        .groupBy(window(col("at"), "10 minutes"), col("carrier"))
        .agg(count("*"), max("delay")),
      past = _.copy(delay = None)
    ),
    Change(
      "session windows get another aggregate",
      late(_).groupBy(session_window(col("at"), "10 minutes"), col("carrier")).agg(count("*")),
      late(_)
        .groupBy(session_window(col("at"), "10 minutes"), col("carrier"))
        .agg(max("delay"), count("*")),
      past = _.copy(delay = None)
    ),
    Change(
      "a deduplication goes by one column less",
      _.dropDuplicates("carrier", "origin"),
      _.dropDuplicates("carrier")
    ),
    Change(
      "a deduplication within the watermark goes by one column less",
      late(_, "20 minutes").dropDuplicatesWithinWatermark("carrier", "origin"),
      late(_, "20 minutes").dropDuplicatesWithinWatermark("carrier")
    ),
    Change(
      "a deduplication comes before a count",
      _.groupBy("carrier").agg(count("*")),
      flights =>
        late(flights).dropDuplicates("carrier", "origin", "at").groupBy("carrier").agg(count("*"))
    ),
    Change(
      "a deduplication goes, and the count after it stays",
      _.dropDuplicates("carrier", "origin", "at").groupBy("carrier").agg(count("*")),
      _.groupBy("carrier").agg(count("*"))
    ),
    Change(
      "two deduplications change places",
      late(_, "20 minutes")
        .dropDuplicates("carrier", "at", "delay")
        .dropDuplicates("carrier", "at"),
      late(_, "20 minutes")
        .dropDuplicates("carrier", "at")
        .dropDuplicates("carrier", "at", "delay"),
      choices(map = Seq("0=1", "1=0"))
    ),
    Change(
      "a side of a join gets a column",
      joined(_),
      joined(_, "delay"),
      past = _.copy(delay = None)
    ),
    Change(
      "a side of a join loses a column",
      joined(_, "delay", "origin"),
      joined(_, "origin")
    ),
    Change(
      "the state of mapGroups gets a field",
      EvolvedQuery.groups(withOrigin = false),
      EvolvedQuery.groups(withOrigin = true),
      past = _.copy(origin = null)
    ),
    Change(
      "variables are renamed, added, removed and wider",
      FlightDelays.of(changed = false),
      FlightDelays.of(changed = true),
      choices(map = Seq("0/total=0/sum"))
    ),
    Change(
      "timers stay where a variable is renamed and one added",
      FlightTimers.of(changed = false),
      FlightTimers.of(changed = true),
      choices(map = Seq("0/count=0/flights"))
    )
  )
}
