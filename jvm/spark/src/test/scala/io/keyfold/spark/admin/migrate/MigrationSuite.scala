package io.keyfold.spark.admin.migrate

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.spark.{
  Answers,
  EventCounts,
  FileFaults,
  KeyfoldExtensions,
  KeyfoldStateStoreProvider,
  LocalSpark,
  QuietLogs
}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.testkit.{Failure, FileContents, Folders, LocalBlobStore}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions._
import org.apache.spark.sql.keyfold.StateStores
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming._
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** Queries begun with one of Spark's providers and continued with Keyfold say what they say when
  * nothing is changed.
  */
class MigrationSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(20.seconds, 10.millis)

  import EventCounts._
  import MigrationSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> classOf[KeyfoldExtensions].getName,
    "spark.sql.shuffle.partitions" -> "3"
  )

  private val keys = ('a' to 'p').map(_.toString)
  private val first = Seq(keys.map(event(_, 1)), keys.take(9).map(event(_, 8)))
  private val second =
    Seq(keys.drop(3).map(event(_, 12)), Seq(event("z", 100)), Seq(event("a", 101)))

  private val begins = mutable.Map.empty[(String, String, Int), Run]
  private val answers = mutable.Map.empty[(String, String, Int), Seq[Set[String]]]

  /** A query that has run its first batches. They run once; each query goes on with a copy. */
  private def begun(name: String, provider: String, format: Int): Run = {
    def begin() = {
      val it = new Run(name, provider, format)
      it.answers(first)
      it
    }
    begins.getOrElseUpdate((name, provider, format), begin()).copied()
  }

  /** What it says after them when nothing is changed. */
  private def answerOf(name: String, provider: String, format: Int): Seq[Set[String]] =
    answers.getOrElseUpdate(
      (name, provider, format),
      begun(name, provider, format).answers(second)
    )

  for {
    name <- Queries.keys.toSeq
    provider <- Seq(RocksDb, Hdfs)
    if provider == RocksDb || !name.startsWith("transformWithState")
    format <- if (provider == RocksDb && name == "aggregation") Seq(1, 2) else Seq(1)
  } test(s"$name from ${provider.split('.').last}, checkpoint format v$format") {
    val answer = answerOf(name, provider, format)
    assert(answer.nonEmpty)
    val run = begun(name, provider, format)
    val plan = run.migration.plan()
    assert(plan.refusals.isEmpty && plan.provider == provider && plan.lastBatch == run.newest)
    run.migration.apply()
    assert(run.migration.plan().refusals.exists(_.contains("already Keyfold's")))
    assert(run.answers(second) == answer)
    assert(run.keyfoldFiles.nonEmpty, "state after it is in Keyfold's files")
  }

  for (provider <- Seq(Hdfs, RocksDb))
    test(
      s"${provider.split('.').last}: a run that broke off is repeated; until then no query starts"
    ) {
      val answer = answerOf("aggregation", provider, 1)
      for (written <- Seq(false, true)) withClue(s"state written: $written: ") {
        val run = begun("aggregation", provider, 1)
        run.migrateUpTo(written)
        assert(run.migration.plan().provider == provider)
        val refused = sources(intercept[Exception](run.answers(second)))
        assert(refused.map(_.condition) == Seq("KEYFOLD_MIGRATE_UNFINISHED"))
        run.migration.apply()
        assert(run.answers(second) == answer)
      }
    }

  for (provider <- Seq(Hdfs, RocksDb))
    test(s"${provider.split('.').last}: a migration in an application that has run no query") {
      val run = new Run("aggregation", provider, 1)
      run.set("spark.sql.streaming.stateStore.minDeltasForSnapshot", "1")
      run.answers(first)
      StateStores.maintain()
      // Providers of Spark report a snapshot that they load.
      eventually(assert(run.files.keys.exists(_.matches(".*\\.(snapshot|zip)"))))
      StateStores.stop()
      StateStores.withoutCoordinator(run.migration.apply())
      assert(run.answers(second).nonEmpty)
    }

  test("state variables that the last run did not declare are not left behind") {
    def run() = {
      val run = begun("transformWithState", RocksDb, 1)
      run.answers(Seq(Seq(event("a", 12))), "transformWithState of fewer variables")
      run
    }
    val it = run()
    val error = intercept[Invalid](it.migration.apply())
    assert(error.condition == "KEYFOLD_MIGRATE_SOURCE" && error.getMessage.contains(" list, map, "))
    // As the message says.
    it.answers(Seq(Seq(event("b", 13))))
    it.migration.apply()
    val expected = run()
    expected.answers(Seq(Seq(event("b", 13))))
    val answer = expected.answers(second)
    assert(answer.nonEmpty && it.answers(second) == answer)
  }

  test("a migration that a batch of the query overtakes changes nothing") {
    val expected = new Run("aggregation", Hdfs, 1)
    expected.answers(first ++ second.take(1))
    val answer = expected.answers(second.drop(1))
    val run = begun("aggregation", Hdfs, 1)
    var files = Map.empty[String, Seq[Byte]]
    val overtaken = run.migrationThat { _ =>
      if (files.isEmpty) {
        run.answers(second.take(1))
        files = run.files
      }
    }
    assert(intercept[Invalid](overtaken.apply()).condition == "KEYFOLD_CONCURRENT_UPDATE")
    assert(run.files == files)
    assert(run.answers(second.drop(1)) == answer)
  }

  test("a migration whose tasks fail is finished or given up, as it says") {
    val run = begun("aggregation", Hdfs, 1)
    val faults = new FileFaults(run.folder.toString)
    faults.settings.foreach { case (key, value) => run.set(key, value) }
    faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("state/0/1/"))
    val error = intercept[Invalid](run.migration.apply())
    assert(error.condition == "KEYFOLD_MIGRATE_UNFINISHED")
    assert(error.getMessage.contains("--undo") && error.getCause != null)
    faults.plan.clear()
    run.migration.apply()
    assert(run.answers(second).nonEmpty)
  }

  for ((provider, format) <- Seq(Hdfs -> 1, RocksDb -> 1, RocksDb -> 2))
    test(s"${provider.split('.').last}, v$format: a migration is given up wherever it was") {
      val answer = answerOf("aggregation", provider, format)
      val stages = Seq[(String, Run => Any)](
        "batch begun" -> (_.migrateUpTo(written = false)),
        "state written" -> (_.migrateUpTo(written = true)),
        "committed" -> (_.migration.apply())
      )
      for ((stage, migrate) <- stages) withClue(s"$stage: ") {
        val run = begun("aggregation", provider, format)
        val before = run.files
        migrate(run)
        val left = run.files
        assert(left.keySet != before.keySet)
        val planned = run.undo(dryRun = true)
        assert(planned.refusals.isEmpty && planned.provider == provider)
        assert(planned.files.map(_.name).toSet.size <= 3 && run.files == left)
        run.undo(dryRun = false)
        assert(run.files == before)
        assert(run.answers(second) == answer)
      }
    }

  for ((provider, format) <- Seq(Hdfs -> 1, RocksDb -> 1, RocksDb -> 2))
    test(s"${provider.split('.').last}, v$format: vacuum keeps what earlier batches are made of") {
      val run = begun("aggregation", provider, format)
      val before = run.files.keys.filter(_.startsWith("state/")).toSeq.sorted
      run.migration.apply()
      for (path <- before) withClue(s"$path: ") {
        val error = intercept[Invalid](
          AdminApi.vacuum(spark, run.folder.toString, path, ageMs = 0, dryRun = true)
        )
        assert(error.condition == "KEYFOLD_VACUUM_IN_USE")
      }
    }

  test("an undo that broke off keeps HDFSBacked out, and is finished by running it again") {
    val run = begun("aggregation", Hdfs, 1)
    val before = run.files
    run.migration.apply()
    val own = run.newest
    val snapshots = run.keyfoldFiles
    def requireUndo(left: Int) = {
      assert(run.undo(dryRun = true).files.size == left)
      val refused = sources(intercept[Exception](run.answers(second)))
      assert(refused.map(_.condition) == Seq("KEYFOLD_MIGRATE_UNFINISHED"))
    }
    Files.delete(run.folder.resolve(s"commits/$own"))
    requireUndo(snapshots.size)
    Files.delete(snapshots.head)
    requireUndo(snapshots.size - 1)
    run.undo(dryRun = false)
    assert(run.files == before)
  }

  test("an undo that a batch of the query overtakes deletes nothing") {
    val run = begun("aggregation", Hdfs, 1)
    run.migration.apply()
    CheckpointTools.using(spark, run.folder.toString) { tools =>
      val undo = new MigrationUndo(tools)
      assert(undo.plan().refusals.isEmpty)
      run.answers(second.take(1))
      val files = run.files
      assert(intercept[Invalid](undo.apply()).condition == "KEYFOLD_CONCURRENT_UPDATE")
      assert(run.files == files)
    }
    assert(run.answers(second.drop(1)).nonEmpty)
  }

  for ((provider, format) <- Seq(Hdfs -> 1, RocksDb -> 1, RocksDb -> 2))
    test(s"${provider.split('.').last}, v$format: a migration whose offsets are lost is undone") {
      val run = begun("aggregation", provider, format)
      val before = run.files
      run.migration.apply()
      Files.delete(run.folder.resolve(s"offsets/${run.newest}"))
      val advice = s"Or undo the earlier migration, whose batch it is, by `keyfold migrate"
      assert(run.migration.plan().refusals.exists(_.contains(advice)))
      run.undo(dryRun = false)
      assert(run.files == before)
      run.migration.apply()
      assert(run.answers(second).nonEmpty)
    }

  test("a batch of the old provider whose offsets are lost is not taken for a migration's") {
    val run = begun("aggregation", Hdfs, 1)
    val (newest, before) = (run.newest, run.files)
    Files.delete(run.folder.resolve(s"offsets/$newest"))
    assert(run.undo(dryRun = true).refusals.exists(_.contains("offset log lost its entries")))
    val said = run.migration.plan().refusals
    assert(said.exists(_.contains(s"commits/$newest, which drops the batch")), said)
    assert(run.files.toSet.subsetOf(before.toSet))
  }

  test("a migration is not undone once the query has run with Keyfold") {
    val run = begun("aggregation", RocksDb, 1)
    run.migration.apply()
    run.answers(second.take(1))
    val before = run.files
    val error = intercept[Invalid](run.undo(dryRun = false))
    assert(error.condition == "KEYFOLD_MIGRATE_REFUSED")
    assert(error.getMessage.contains("not that of a migration"))
    assert(run.files == before)
  }

  for (provider <- Seq(Hdfs, RocksDb))
    test(
      s"${provider.split('.').last}: undone after damage, with the batch that Keyfold had begun"
    ) {
      val run = begun("aggregation", provider, 1)
      val before = run.files
      run.migration.apply()
      val own = run.newest
      run.keyfoldFiles.foreach(Files.write(_, Array.emptyByteArray))
      intercept[StreamingQueryException](run.answers(second.take(1)))
      assert(Files.exists(run.folder.resolve(s"offsets/${own + 1}")))
      // Without its entry there, a commit would stay behind.
      for (lost <- Seq(own + 1, own)) {
        assert(run.undo(dryRun = true).refusals.isEmpty, lost)
        Files.delete(run.folder.resolve(s"offsets/$lost"))
      }
      run.undo(dryRun = false)
      assert(run.files == before)
    }

  for ((isOpen, isNew) <- Seq((false, false), (true, false), (false, true)))
    test(
      "the log of a file sink forgets the migration's batch, " +
        s"and one that is open: $isOpen, in a new folder: $isNew"
    ) {
      var folder = Files.createTempDirectory("keyfold-migration-sink")
      val checkpoint = Files.createTempDirectory("keyfold-migration")
      val session = spark.newSession()
      import session.implicits._
      session.conf.set("spark.sql.streaming.stateStore.providerClass", RocksDb)
      val input = MemoryStream[Int](session)
      def write(value: Int): Unit = {
        input.addData(value)
        goOn()
      }
      def goOn(): Unit = {
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
      CheckpointTools.using(session, checkpoint.toString)(new Migration(_, _ => ()).apply())
      if (isNew) folder = Files.createTempDirectory("keyfold-migration-sink")
      if (isOpen) {
        write(3)
        val commits = checkpoint.resolve("commits")
        Files.delete(commits.resolve("3"))
        assert(Files.exists(commits.resolve("2")))
      } else goOn()
      assert(Files.exists(folder.resolve("_spark_metadata/2")))
      CheckpointTools.using(session, checkpoint.toString) { tools =>
        new MigrationUndo(tools).apply()
      }
      write(if (isOpen) 4 else 3)
      val expected = (if (isNew) 3 else 1) to (if (isOpen) 4 else 3)
      assert(session.read.parquet(folder.toString).as[Int].collect().sorted.toSeq == expected)
    }

  for ((provider, suffix) <- Seq(RocksDb -> ".zip", Hdfs -> ".delta"))
    test(s"state that ${provider.split('.').last} cannot read is named, and stays as it is") {
      val run = begun("aggregation", provider, 1)
      val path = run.files.keys.filter(_.endsWith(s"/${run.newest + 1}$suffix")).min
      val file = run.folder.resolve(path)
      val whole = Files.readAllBytes(file)
      Files.write(file, whole.take(1))
      Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      val before = run.files
      val causes = sources(intercept[Exception](run.migration.apply()))
      assert(causes.map(_.condition) == Seq("KEYFOLD_MIGRATE_SOURCE"))
      val partition = path.split('/').dropRight(1).mkString("/")
      assert(causes.head.getMessage.contains(s"${run.folder}/$partition "))
      assert(run.files == before)
      Files.write(file, whole)
      run.migration.apply()
      assert(run.answers(second).nonEmpty)
    }

  for (provider <- Seq(RocksDb, Hdfs))
    test(s"rows that their keys do not place stay where ${provider.split('.').last} has them") {
      def run() = {
        val it = new Run("aggregation by more", provider, 1)
        it.set("spark.sql.streaming.statefulOperator.useStrictDistribution", "false")
        it.answers(first)
        it
      }
      val it = run()
      it.migration.apply()
      val answer = it.answers(second)
      assert(it.keyfoldFiles.nonEmpty && it.hasStrays)
      assert(run().answers(second) == answer)
    }

  for (isThere <- Seq(false, true))
    test(s"a schema that cannot be read is named, and Spark writes it again, there: $isThere") {
      val run = begun("aggregation", Hdfs, 1)
      val schema = run.folder.resolve("state/0/0/_metadata/schema")
      Files.deleteIfExists(schema.resolveSibling(".schema.crc"))
      if (isThere) Files.write(schema, Array.emptyByteArray) else Files.delete(schema)
      val error = intercept[Invalid](run.migration.plan())
      assert(
        error.condition == "KEYFOLD_MIGRATE_SOURCE" && error.getMessage.contains(schema.toString)
      )
      Files.deleteIfExists(schema)
      run.answers(second.take(1))
      run.migration.apply()
      assert(run.keyfoldFiles.nonEmpty)
    }

  test("what cannot be migrated is refused with its reason") {
    val run = new Run("aggregation", Hdfs, 1)
    run.answers(first.take(1))
    def refused(migration: Migration, reason: String) = {
      val error = intercept[Invalid](migration.apply())
      assert(error.getMessage.contains(reason) && error.getMessage.contains("Nothing was changed"))
    }
    Files.delete(run.folder.resolve("commits/0"))
    refused(run.migration, "No batch is committed")
    val unnamed = begun("aggregation", Hdfs, 1)
    for (name <- Seq("metadata", ".metadata.crc"))
      Files.deleteIfExists(unnamed.folder.resolve(s"state/0/_metadata/$name"))
    refused(unnamed.migration, "Spark writes the description again. Then migrate.")
    unnamed.answers(second.take(1))
    assert(unnamed.migration.plan().refusals.isEmpty)
  }

  /** Errors of Keyfold's among the causes of one. */
  private def sources(error: Throwable): Seq[Invalid] = Iterator
    .iterate(error)(_.getCause)
    .takeWhile(_ != null)
    .collect { case it: Invalid => it }
    .toSeq

  /** One query on one checkpoint. */
  private final class Run(name: String, provider: String, format: Int) {
    val folder: Path = Files.createTempDirectory("keyfold-migration")
    private val own = spark.newSession()
    own.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    own.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", format.toString)
    own.conf.set("spark.sql.session.timeZone", "UTC")
    private val input = {
      import own.implicits._
      MemoryStream[Event](own)
    }
    private val added = mutable.Buffer.empty[Seq[Event]]

    /** A query that goes on with a copy of the checkpoint, from where this one is. */
    def copied(): Run = {
      val copy = new Run(name, provider, format)
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

    def migration: Migration = migrationThat(_ => ())

    def migrationThat(progress: String => Unit): Migration =
      new Migration(new CheckpointTools(own, folder.toString), progress)

    def newest: Long = numbers("commits").max

    /** What runs with Keyfold's settings since. */
    private def isMigrated = {
      val logs = new CheckpointLogs(own, folder.toString)
      logs.lastCommitted.flatMap(logs.providerOf).contains(ProviderClass.Keyfold)
    }

    /** Starts the query, gives it batches, and stops it: rows that came, a set for each batch. */
    def answers(batches: Seq[Seq[Event]], query: String = name): Seq[Set[String]] = {
      if (isMigrated) own.conf.set(CheckpointLogs.FormatKey, "2")
      val mode = if (name.startsWith("aggregation")) "update" else "append"
      Answers.of(Queries(query)(input.toDF()), mode, folder, batches)(add)
    }

    def undo(dryRun: Boolean): UndoPlan =
      CheckpointTools.using(own, folder.toString) { tools =>
        val undo = new MigrationUndo(tools)
        if (dryRun) undo.plan() else undo.apply()
      }

    /** All files but those of checksums, with what is in them. */
    def files: Map[String, Seq[Byte]] = Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala
        .filter(path => Files.isRegularFile(path) && !path.toString.endsWith(".crc"))
        .map(path => folder.relativize(path).toString -> Files.readAllBytes(path).toSeq)
        .toMap
    }

    /** Files of state that begin as Keyfold's do. */
    def keyfoldFiles: Seq[Path] = Using.resource(Files.walk(folder.resolve("state"))) { paths =>
      paths.iterator.asScala
        .filter(Files.isRegularFile(_))
        .filter { path =>
          val bytes = Files.readAllBytes(path)
          new String(bytes.take(4), "ISO-8859-1") == "KFLD"
        }
        .toList
    }

    /** Whether Keyfold has marked a family, in a partition of the first operator. */
    def hasStrays: Boolean = {
      val blobs = new LocalBlobStore(folder)
      (0 until 3).exists { partition =>
        blobs.list(s"state/0/$partition").filter(_.endsWith(".delta")).exists { name =>
          val path = s"state/0/$partition/$name"
          keyfoldFiles.contains(folder.resolve(path)) &&
          FileContents.read(blobs, path).footer.families.exists(_.spec.strays)
        }
      }
    }

    /** What a migration does until it crashes. */
    def migrateUpTo(written: Boolean): Unit = {
      val of = newest
      val changes = Map(
        "spark.sql.streaming.stateStore.providerClass" -> classOf[KeyfoldStateStoreProvider].getName
      )
      val logs = new CheckpointLogs(own, folder.toString)
      assert(logs.begin(of + 1, of, changes))
      if (written) {
        new io.keyfold.spark.rewrite.StateRewrite(own, logs, of, of + 1, changes).write()
        ()
      }
    }

    private def numbers(log: String) = Using.resource(Files.list(folder.resolve(log))) { paths =>
      paths.iterator.asScala.map(_.getFileName.toString).flatMap(_.toLongOption).toList
    }
  }
}

private object MigrationSuite {
  private val Package = "org.apache.spark.sql.execution.streaming.state"
  private val RocksDb = s"$Package.RocksDBStateStoreProvider"
  private val Hdfs = s"$Package.HDFSBackedStateStoreProvider"

  private val Queries: Map[String, DataFrame => DataFrame] = Map(
    "aggregation" -> (_.groupBy("key").agg(count("*"), sum(unix_timestamp(col("at"))))),
    "aggregation by more" -> (_.repartition(col("key")).groupBy("key", "at").count()),
    "aggregation without keys" -> (_.agg(count("*"))),
    "deduplication" -> (_.dropDuplicates("key")),
    "join" -> { events =>
      val left = events.withWatermark("at", "20 seconds")
      val right = events
        .select(col("key").as("other"), col("at").as("then"))
        .withWatermark("then", "20 seconds")
      left.join(right, expr("key = other AND then >= at AND then <= at + INTERVAL 15 SECONDS"))
    },
    "session window" ->
      (_.withWatermark("at", "0 seconds")
        .groupBy(session_window(col("at"), "10 seconds"), col("key"))
        .count()),
    "transformWithState of fewer variables" -> (processed(_, new EventCounts.Few)),
    "transformWithState" -> (processed(_, new EventCounts.Everything))
  )

  private def processed(
      events: DataFrame,
      processor: StatefulProcessor[String, EventCounts.Event, String]
  ): DataFrame = {
    val session = events.sparkSession
    import session.implicits._
    events
      .withWatermark("at", "0 seconds")
      .as[EventCounts.Event]
      .groupByKey(_.key)
      .transformWithState(processor, TimeMode.EventTime(), OutputMode.Append())
      .toDF()
  }
}
