package io.keyfold.spark.admin.rescale

import java.nio.file.{Files, Path}

import io.keyfold.spark.{
  EventCounts,
  ExpiringCounts,
  KeyfoldExtensions,
  LaterFeatures,
  LocalSpark,
  QuietLogs
}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.CheckpointLogs
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.StateStores
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** Queries of every stateful operator go on with another number of partitions, as if nothing had
  * happened, and their rows are where they belong.
  */
class RescaledQueriesSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(60.seconds, 10.millis)

  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  /** Looks at all files, and returns the number of rows of each operator. */
  private def rows(scenario: Scenario, partitions: Int): Map[Long, Int] =
    rows(scenario.session, scenario.folder, partitions)

  private def rows(session: SparkSession, folder: Path, partitions: Int): Map[Long, Int] = {
    val logs = new CheckpointLogs(session, folder.toString)
    val batch = logs.lastCommitted.get
    assert(logs.partitions(batch).contains(partitions))
    val ids = logs.ids(batch)
    val state = new StateFolder(folder)
    state.requirePlaced(since = 0)
    state.rows(
      partitions,
      batch + 1,
      (operator, partition, store) => ids.fold("")(_(operator)(partition)(store))
    )
  }

  private def check(scenario: Scenario, path: Int*): Unit = check(scenario, batches = 2, path)

  /** @param batches
    *   how many there are before the first rescale, and after each
    */
  private def check(scenario: Scenario, batches: Int, path: Seq[Int]): Unit = {
    scenario.run(batches)
    for (Seq(from, to) <- path.sliding(2)) {
      val before = rows(scenario, from)
      scenario.rescale(to)
      assert(rows(scenario, to) == before)
      scenario.run(batches)
      rows(scenario, to)
    }
    scenario.check()
  }

  for (shape <- Scenario.all)
    test(s"${shape.name}: 8 -> 16 -> 12")(check(new Scenario(spark, shape, format = 2), 8, 16, 12))

  for (
    shape <- Scenario.all.filter(s =>
      Seq("aggregation", "aggregation without keys", "join, state format 3").contains(s.name)
    )
  )
    test(s"${shape.name}, checkpoint format v1: 8 -> 16 -> 12") {
      check(new Scenario(spark, shape, format = 1), 8, 16, 12)
    }

  test("aggregation: 8 -> 5 -> 1 -> 20 -> 7") {
    check(new Scenario(spark, Scenario.aggregation, format = 2), 8, 5, 1, 20, 7)
  }

  test("aggregation: 1 -> 200 -> 64") {
    val one = Map("spark.sql.shuffle.partitions" -> "1")
    check(new Scenario(spark, Scenario.aggregation, format = 2, one), batches = 1, Seq(1, 200, 64))
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: rescaled again at once, several times, and back") {
      val it = new Scenario(spark, Scenario.aggregation, format)
      it.run(3)
      val before = rows(it, 8)
      for (to <- Seq(12, 5, 16, 8)) {
        it.rescale(to)
        assert(rows(it, to) == before)
      }
      it.run(2)
      it.check()
    }

  for (format <- Seq(1, 2))
    test(s"format v$format: with snapshots and retention the old files go, and the plan too") {
      val it = new Scenario(spark, Scenario.aggregation, format)
      it.run(4, () => maintainFully())
      it.rescale(3)
      assert(it.state.plans.length == 1 && it.state.references.length == 3)
      it.run(4, () => maintainFully())
      it.run(8, () => maintainFully())
      assert(it.state.plans.isEmpty && it.state.references.isEmpty && it.state.manifests.isEmpty)
      for (p <- 3 until 8) assert(it.state.files(0, p, "default").isEmpty, s"partition $p")
      rows(it, 3)
      it.check()
    }

  test("operator metadata that another try has left for the batch is replaced") {
    val it = new Scenario(spark, Scenario.all.filter(_.name.endsWith("format 3")).head, format = 2)
    it.run(2)
    val metadata = it.folder.resolve("state/0/_metadata/v2")
    Files.copy(metadata.resolve("0"), metadata.resolve("2"))
    it.rescale(5)
    val found = it.session.read.format("state-metadata").load(it.folder.toString)
    assert(found.select("numPartitions").collect().map(_.getInt(0)).toSet == Set(5))
    it.run(1)
    it.check()
  }

  test("the state reader reads batches from before a rescale, of it and after it") {
    assume(LaterFeatures.stateReaderKnowsIds, "The state reader knows no ids before Spark 4.1")
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.rescale(12)
    it.run(1)
    def read(batch: Int) = it.session.read
      .format("statestore")
      .option("batchId", batch.toLong)
      .load(it.folder.toString)
      .select("key", "value")
      .collect()
      .map(_.toString)
      .sorted
      .toSeq
    assert(read(3).length == 37 && read(3) != read(2) && read(2).nonEmpty)
    assume(
      LaterFeatures.stateReaderCountsPartitions,
      "Before Spark 4.2 the state reader asks for all partitions that there are in any batch"
    )
    assert(read(2) == read(1))
  }

  /** Once for what hands the work out, and until the threads that got it have done it. */
  private def maintainFully(): Unit = {
    StateStores.maintain()
    eventually(assert(StateStores.isIdle))
    ()
  }

  test("transformWithState: value, list, map and timers go on") {
    val session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "8")
    session.conf.set("spark.sql.streaming.stateStore.minDeltasForSnapshot", "2")
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    val folder = Files.createTempDirectory("keyfold-tws")
    val counts = new EventCounts(session, folder)
    import EventCounts.event
    val keys = ('a' to 'p').map(_.toString)
    counts.run(keys.map(event(_, 1)), keys.map(event(_, 2)))
    AdminApi.rescale(session, folder.toString, 16, dryRun = false)
    assert(counts.run(keys.map(event(_, 3))) == keys.map(k => s"$k 3 1,2,3 1,2,3"))
    AdminApi.rescale(session, folder.toString, 12, dryRun = false)
    val late = counts.run(Seq(event("z", 100)), Seq(event("z", 101)))
    assert(
      late.filter(_.startsWith("timer")).toSet ==
        keys.flatMap(k => Seq(1, 2, 3).map(s => s"timer $k ${(s + 10) * 1000}")).toSet
    )
    assert(counts.run(Seq(event("a", 102))) == Seq("a 4 1,2,3,102 1,2,3,102"))
    val logs = new CheckpointLogs(session, folder.toString)
    assert(logs.partitions(logs.lastCommitted.get).contains(12))
  }

  test("transformWithState: the open batch runs after 8 -> 16, and after 16 -> 3") {
    val session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "8")
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    val folder = Files.createTempDirectory("keyfold-tws")
    val counts = new EventCounts(session, folder)
    import EventCounts.event
    val keys = ('a' to 'p').map(_.toString)
    def logs = new CheckpointLogs(session, folder.toString)
    counts.run(keys.map(event(_, 1)), keys.map(event(_, 2)))
    for ((to, second) <- Seq(16 -> 3, 3 -> 4)) {
      val last = logs.lastCommitted.get
      Files.delete(folder.resolve(s"commits/$last"))
      Files.deleteIfExists(folder.resolve(s"commits/.$last.crc"))
      AdminApi.rescale(session, folder.toString, to, dryRun = false)
      val seconds = (1 to second).mkString(",")
      val found = counts.run(keys.map(event(_, second.toLong)))
      assert(keys.map(k => s"$k $second $seconds $seconds").diff(found).isEmpty)
      assert(logs.partitions(logs.lastCommitted.get).contains(to))
    }
  }

  test("transformWithState: value, list and map state that expires goes on and expires") {
    val session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "8")
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    val folder = Files.createTempDirectory("keyfold-ttl")
    val counts = new ExpiringCounts(session, folder)
    def rescale(from: Int, to: Int): Unit = {
      val before = rows(session, folder, from)
      AdminApi.rescale(session, folder.toString, to, dryRun = false)
      assert(rows(session, folder, to) == before)
      ()
    }
    val (early, late) = ('a' to 'z').map(_.toString).splitAt(13)
    assert(counts.run(minute = 1000, early) == early.map(k => s"$k 0 0 0"))
    assert(counts.run(minute = 1030, late) == late.map(k => s"$k 0 0 0"))
    rescale(8, 16)
    val some = Seq(early.head, late.head)
    assert(counts.run(minute = 1059, some) == some.map(k => s"$k 1 1 1"))
    rescale(16, 12)
    // Values begin their hour anew when they are written; each element of a list or a map has its own.
    assert(
      counts.run(minute = 1061, early ++ late) ==
        (s"${early.head} 2 1 1" +: early.tail.map(k => s"$k 0 0 0")) ++
        (s"${late.head} 2 2 2" +: late.tail.map(k => s"$k 1 1 1"))
    )
    rescale(12, 5)
    assert(counts.run(minute = 2000, Seq("new")) == Seq("new 0 0 0"))
    val other = Files.createTempDirectory("keyfold-ttl")
    new ExpiringCounts(session, other).run(minute = 2000, Seq("new"))
    assert(rows(session, folder, 5) == rows(session, other, 8))
  }

  test("a file sink that is rescaled twice, past a compaction, is read back whole") {
    val session = spark.newSession()
    import session.implicits._
    session.conf.set("spark.sql.streaming.fileSink.log.compactInterval", "3")
    session.conf.set("spark.sql.shuffle.partitions", "4")
    val root = Files.createTempDirectory("keyfold-sink")
    val (checkpoint, out) = (root.resolve("checkpoint").toString, root.resolve("out").toString)
    val input = MemoryStream[Int](session)
    def run(numbers: Range): Unit = {
      val query = input
        .toDF()
        .dropDuplicates("value")
        .writeStream
        .option("checkpointLocation", checkpoint)
        .format("json")
        .start(out)
      try
        for (n <- numbers) {
          input.addData(n, n + 1)
          query.processAllAvailable()
        }
      finally query.stop()
    }
    run(1 to 4)
    AdminApi.rescale(session, checkpoint, 6, dryRun = false)
    // As after a crash before the last step.
    Files.delete(Path.of(checkpoint, "commits", "4"))
    Files.deleteIfExists(Path.of(checkpoint, "commits", ".4.crc"))
    assert(ujson.read(AdminApi.rescale(session, checkpoint, 6, dryRun = true))("resumes").bool)
    AdminApi.rescale(session, checkpoint, 6, dryRun = false)
    run(5 to 7)
    AdminApi.rescale(session, checkpoint, 3, dryRun = false)
    run(8 to 12)
    assert(session.read.json(out).as[Long].collect().sorted.toSeq == (1L to 13L))
  }
}
