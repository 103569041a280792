package io.keyfold.spark.admin.rescale

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.concurrent.duration.DurationInt
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.{Failure => Failed, Try, Using}

import io.keyfold.errors.{Invalid, MissingFile, RescaleRefused}
import io.keyfold.spark.{InBackground, KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import io.keyfold.testkit.{Failure, Fault, FileCall, Folders}
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

/** A rescale that breaks off at any of its writes, or that somebody is faster than: the query runs
  * with the old number of partitions or with the new, or says that the rescale has to be finished,
  * which it then is. Nothing is lost.
  */
class RescaleCrashSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val few = Map("spark.sql.shuffle.partitions" -> "2")

  private val begins = mutable.Map.empty[Int, Scenario]

  /** Two batches are committed. They run once; each query goes on with a copy. */
  private def scenario(format: Int): Scenario = {
    def begin() = {
      val it = new Scenario(spark, Scenario.aggregation, format, few)
      it.run(2)
      it
    }
    begins.getOrElseUpdate(format, begin()).copied()
  }

  private def partitions(it: Scenario): Int = {
    val logs = new CheckpointLogs(it.session, it.folder.toString)
    logs.partitions(logs.lastCommitted.get).get
  }

  /** Calls of a rescale that make something visible or take it away. */
  private def writes(it: Scenario): Seq[FileCall] = {
    it.faults.plan.clear()
    it.rescale(3)
    it.faults.plan.calls.filter(call => Set("rename", "delete")(call.what))
  }

  private def failures(call: FileCall): Seq[Failure] = call.what match {
    case "rename" => Seq(Failure.Before, Failure.After)
    case _        => Seq(Failure.Before)
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: whatever write fails, the query runs with 2, or with 3 (fault 14)") {
      val calls = writes(scenario(format))
      val written = calls.filter(_.what == "rename").map(_.path)
      // The plan, the manifest, three references, the entry that begins the batch and the one that
      // commits it.
      assert(written.count(_.endsWith(".manifest")) == 1)
      assert(written.count(_.endsWith(".ref")) == 3 && written.length == 7)
      val seen = mutable.Set.empty[Map[String, String]]
      val outcomes = Fault.ofEachKind(calls)(failures).flatMap { fault =>
        val it = scenario(format)
        it.faults.plan.arm(fault)
        try {
          it.rescale(3)
          ()
        } catch { case e: Exception => assert(causes(e).exists(_.getMessage.contains("injected"))) }
        assert(it.faults.plan.hasFailed, "the fault was not met")
        it.faults.plan.clear()
        // A write that failed leaves what one that succeeded left, before the next.
        Option.when(seen.add(Folders.outcome(it.folder)))(withClue(s"$fault: ") {
          val outcome = goOn(it)
          it.check()
          it.rescale(5)
          it.run(1)
          it.check()
          assert(it.state.plans.nonEmpty)
          outcome
        })
      }
      assert(outcomes.toSet == Set("runs with 2", "runs with 3", "finished, runs with 3"))
    }

  test("whatever write of operator metadata fails, the rescale is finished by running it again") {
    val shape = Scenario.all.filter(_.name.endsWith("format 3")).head
    def joined() = {
      val it = new Scenario(spark, shape, 2, few)
      it.run(1)
      it
    }
    val calls = writes(joined()).filter(_.path.contains("_metadata/v2"))
    assert(calls.map(_.what).toSet == Set("rename", "delete"))
    for (fault <- Fault.ofEachKind(calls)(failures)) withClue(s"$fault: ") {
      val it = joined()
      it.faults.plan.arm(fault)
      intercept[Exception](it.rescale(3))
      it.faults.plan.clear()
      assert(goOn(it) == "finished, runs with 3")
      it.check()
    }
  }

  /** The query is started; if it says that a rescale is not finished, that is done first. */
  private def goOn(it: Scenario): String =
    try {
      it.run(1)
      s"runs with ${partitions(it)}"
    } catch {
      case e: IllegalArgumentException =>
        assert(e.getMessage.startsWith("[KEYFOLD_RESCALE_UNFINISHED]"))
        val plan = AdminApi.planOf(it.session, it.folder.toString, 3)
        assert(plan.resumes && plan.refusals.isEmpty)
        val other = intercept[RescaleRefused](it.rescale(4))
        assert(other.condition == "KEYFOLD_RESCALE_UNFINISHED")
        it.rescale(3)
        it.run(1, addAgain = false)
        s"finished, runs with ${partitions(it)}"
    }

  private def causes(e: Throwable) = Iterator.iterate(e)(_.getCause).takeWhile(_ != null)

  test("a query that does not know of a rescale does not load wrong partitions (fault 14)") {
    val it = scenario(1)
    breakOff(it, _.path.startsWith("commits/"))
    it.session.conf.set("spark.sql.streaming.checkUnfinishedRepartitionOnRestart", "false")
    // The new partition has no file of the version, and says so: the old ones shall fail first.
    val newPartition = it.faults.plan.hold(_.path.startsWith("state/0/2/"))
    val error = intercept[StreamingQueryException](it.run(1))
    newPartition.open()
    assert(error.getMessage.contains("KEYFOLD_PARTITIONS_MISMATCH"))
    it.rescale(3)
    it.run(1, addAgain = false)
    it.check()
  }

  private def breakOff(it: Scenario, at: FileCall => Boolean): Unit = {
    it.faults.plan.fail(Failure.Before)(call => call.what == "rename" && at(call))
    intercept[Exception](it.rescale(3))
    it.faults.plan.clear()
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: of two rescales one wins, and the other leaves nothing") {
      val it = scenario(format)
      val stale = planned(it, 5)
      it.rescale(3)
      val files = allFiles(it.folder)
      val error = intercept[RescaleRefused](stale())
      assert(error.condition == "KEYFOLD_RESCALE_RACE")
      assert(allFiles(it.folder) == files)
      it.run(1)
      it.check()
    }

  for (format <- Seq(1, 2))
    test(s"format v$format: of two rescales to one number both end well, and one counts") {
      val it = scenario(format)
      breakOff(it, _.path.startsWith("commits/"))
      it.rescale(3)
      assert(it.state.plans.length == 1 && it.state.references.length == 3)
      assert(it.state.manifests.length == 1)
      it.run(1)
      it.check()
    }

  for (format <- Seq(1, 2))
    test(s"format v$format: a query that goes on before the batch is begun has won") {
      val it = scenario(format)
      val stale = planned(it, 3)
      it.run(1)
      val files = allFiles(it.folder)
      assert(intercept[RescaleRefused](stale()).condition == "KEYFOLD_RESCALE_RACE")
      assert(allFiles(it.folder) == files)
      assert(partitions(it) == 2)
      it.run(1)
      it.check()
    }

  for (format <- Seq(1, 2))
    test(s"format v$format: a rollback before the batch is begun has won") {
      val it = scenario(format)
      val stale = planned(it, 3)
      AdminApi.rollback(it.session, it.folder.toString, 0, null, dryRun = false)
      val files = allFiles(it.folder)
      val error = intercept[MissingFile](stale())
      assert(error.path.endsWith("offsets/1") && error.getMessage.contains("Another command"))
      assert(allFiles(it.folder) == files)
      assert(partitions(it) == 2)
      it.run(1, addAgain = false)
      it.check()
    }

  for (format <- Seq(1, 2))
    test(s"format v$format: a rollback before the batch is committed has won") {
      val it = scenario(format)
      val commits = it.faults.plan.hold(c => c.what == "rename" && c.path.startsWith("commits/2"))
      val rescale = Future(Try(it.rescale(3)))(ExecutionContext.global)
      commits.awaitArrival()
      AdminApi.rollback(it.session, it.folder.toString, 0, null, dryRun = false)
      commits.open()
      Await.result(rescale, 1.minute) match {
        case Failed(e: MissingFile) =>
          assert(e.path.endsWith("offsets/2") && e.getMessage.contains("Another command"))
        case other => fail(s"it ended with $other")
      }
      assert(partitions(it) == 2)
      it.run(1, addAgain = false)
      it.check()
    }

  /** A rescale that is planned now, and made when the caller says so. */
  private def planned(it: Scenario, to: Int): () => Any = {
    val tools = new CheckpointTools(it.session, it.folder.toString)
    val plan = new RescalePlanner(tools, to).plan()
    assert(plan.refusals.isEmpty)
    () => Using.resource(tools)(new Rescaler(_, plan).run())
  }

  private def allFiles(folder: Path): Set[String] = {
    // A snapshot of the last batch may be on its way.
    InBackground.await()
    val walked = Files.walk(folder)
    try
      walked.iterator.asScala
        .filter(Files.isRegularFile(_))
        .map(_.toString)
        .filterNot(_.endsWith(".crc"))
        .toSet
    finally walked.close()
  }

  test("a store that Spark's metadata lack is not passed over") {
    for (format <- Seq(1, 2)) withClue(s"format $format: ") {
      val it = scenario(format)
      val last = new CheckpointLogs(it.session, it.folder.toString).lastCommitted.get
      val other = Files.createDirectories(it.folder.resolve("state/0/0/other"))
      def condition(body: => Any) = intercept[Invalid](body).condition
      Files.writeString(other.resolve(s"${last + 2}.delta"), "of the next batch")
      assert(
        AdminApi.planOf(it.session, it.folder.toString, 3).refusals.isEmpty
      )
      Files.writeString(other.resolve(s"${last + 1}.delta"), "")
      assert(
        condition(AdminApi.planOf(it.session, it.folder.toString, 3)) ==
          "KEYFOLD_CHECKPOINT_DAMAGED"
      )
      assert(
        condition(AdminApi.cloneCheckpoint(it.session, it.folder.toString, "/x", -1, true)) ==
          "KEYFOLD_CHECKPOINT_DAMAGED"
      )
    }
  }

  test("what cannot be rescaled is refused, with the reason, and nothing is written") {
    val it = scenario(2)
    val files = allFiles(it.folder)
    def conditionOf(to: Int) =
      AdminApi.planOf(it.session, it.folder.toString, to).refusals.map(_.condition).distinct
    assert(conditionOf(0) == Seq("KEYFOLD_RESCALE_PARTITIONS"))
    assert(conditionOf(2) == Seq("KEYFOLD_RESCALE_PARTITIONS"))
    val query = it.start()
    try {
      query.processAllAvailable()
      assert(conditionOf(3) == Seq("KEYFOLD_RESCALE_RUNNING"))
    } finally query.stop()
    assert(conditionOf(3).isEmpty)
    assert(allFiles(it.folder) == files)
    val empty = Files.createTempDirectory("keyfold-empty").toString
    val nothing = AdminApi.planOf(it.session, empty, 3)
    assert(nothing.refusals.map(_.condition) == Seq("KEYFOLD_RESCALE_NO_BATCH"))
    assert(allFiles(Path.of(empty)).isEmpty)
  }

  test("a checkpoint of another provider is refused") {
    val it = new Scenario(
      spark,
      Scenario.aggregation,
      1,
      few + ("spark.sql.streaming.stateStore.providerClass" ->
        "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    )
    it.run(1)
    val plan = AdminApi.planOf(it.session, it.folder.toString, 3)
    assert(plan.refusals.map(_.condition).head == "KEYFOLD_RESCALE_PROVIDER")
  }

  test("format v1: files of a batch that the logs do not know are refused") {
    val it = scenario(1)
    Files.copy(it.folder.resolve("state/0/1/2.delta"), it.folder.resolve("state/0/1/3.delta"))
    val plan = AdminApi.planOf(it.session, it.folder.toString, 3)
    assert(plan.refusals.map(_.condition) == Seq("KEYFOLD_RESCALE_STALE_FILES"))
  }

  test("a plan opens one file for each old partition and store, and lists its folder") {
    val it = new Scenario(spark, Scenario.all.filter(_.name.contains("join")).head, format = 2)
    it.run(2)
    it.faults.plan.clear()
    it.rescale(16)
    val opened = it.faults.plan.calls.filter(c => c.what == "open" && c.path.startsWith("state/"))
    val stores = opened.filterNot(_.path.contains("_metadata"))
    assert(stores.length == 8 * 4)
  }

  test("what Python gets can be read") {
    val it = scenario(2)
    val plan = ujson.read(AdminApi.rescale(it.session, it.folder.toString, 4, dryRun = true))
    assert(plan("from").num == 2 && plan("to").num == 4 && plan("batch").num == 2)
    assert(plan("refusals").arr.isEmpty && !plan("applied").bool)
    val store = plan("operators")(0)("stores")(0)
    assert(store("partitions").arr.length == 4)
    assert(store("partitions")(3)("firstLoadFiles").num == 2)
    assert(plan("firstLoadFiles").num == 4 * 2 && plan("firstLoadFilesMax").num == 2)
    assert(store("layers")(0)("files").arr.length == 2 * 2)
    val done = ujson.read(AdminApi.rescale(it.session, it.folder.toString, 4, dryRun = false))
    assert(done("applied").bool && done("lastBatch").num == 1 && done("durationMs").num >= 0)
  }
}
