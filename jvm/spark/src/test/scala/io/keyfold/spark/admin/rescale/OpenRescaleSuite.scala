package io.keyfold.spark.admin.rescale

import java.nio.file.Files

import scala.collection.mutable

import io.keyfold.errors.{Invalid, RescaleRefused}
import io.keyfold.format.{PlanName, RescalePlan}
import io.keyfold.spark.{KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.testkit.{Failure, Fault, FileCall, Folders, LocalBlobStore}
import org.apache.spark.sql.keyfold.StateStores
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** A query that was stopped in the middle of a batch is rescaled: the batch keeps its number and
  * its input, and runs with the new number of partitions. Whatever breaks off, nothing is lost.
  */
class OpenRescaleSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(60.seconds, 10.millis)

  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val few = Map("spark.sql.shuffle.partitions" -> "2")

  private val begins = mutable.Map.empty[(String, Int), Scenario]

  /** Two batches are committed, the third is open. They run once; each query goes on with a copy.
    */
  private def opened(shape: Scenario.Shape = Scenario.aggregation, format: Int = 2): Scenario = {
    def begin() = {
      val it = new Scenario(spark, shape, format, few)
      it.run(2)
      it.leaveOpen()
      it
    }
    begins.getOrElseUpdate((shape.name, format), begin()).copied()
  }

  private def logs(it: Scenario) = new CheckpointLogs(it.session, it.folder.toString)

  private def partitions(it: Scenario): Int = logs(it).partitions(logs(it).lastCommitted.get).get

  for (shape <- Scenario.all)
    test(s"${shape.name}: the open batch runs after 2 -> 3 -> 5") {
      val it = opened(shape)
      val batches = it.sinkBatches.toSeq
      val open = logs(it).lastBegun.get
      it.rescale(3)
      it.run(1, addAgain = false)
      assert(partitions(it) == 3)
      // The sink gets the open batch again, as without a rescale, and no other.
      assert(it.sinkBatches.toSeq.drop(batches.length).headOption.contains(open))
      it.run(1)
      it.leaveOpen()
      it.rescale(5)
      it.run(2, addAgain = false)
      it.check()
      assert(it.sinkBatches.distinct == (0L to logs(it).lastCommitted.get))
    }

  for (shape <- Scenario.all.filter(_.name.contains("state format")))
    test(s"${shape.name}: two open batches, one after the other, run after 2 -> 3 -> 5") {
      val it = opened(shape)
      it.rescale(3)
      it.run(1, addAgain = false)
      it.leaveOpen()
      it.rescale(5)
      it.run(1, addAgain = false)
      it.check()
      assert(partitions(it) == 5)
      it.rescale(3)
      it.run(1)
      it.check()
    }

  private def failures(call: FileCall): Seq[Failure] =
    if (call.what == "rename") Seq(Failure.Before, Failure.After) else Seq(Failure.Before)

  private def writes(it: Scenario, change: Scenario => Any): Seq[FileCall] = {
    it.faults.plan.clear()
    change(it)
    it.faults.plan.calls.filter(call => Set("rename", "delete")(call.what))
  }

  private def breakOff(it: Scenario, fault: Fault)(change: Scenario => Any): Unit = {
    it.faults.plan.arm(fault)
    try change(it)
    catch { case e: Exception => assert(causes(e).exists(_.getMessage.contains("injected"))) }
    assert(it.faults.plan.hasFailed, s"$fault was not met")
    it.faults.plan.clear()
  }

  private def causes(e: Throwable) = Iterator.iterate(e)(_.getCause).takeWhile(_ != null)

  /** The query is started; if it says that a rescale is not finished, that is done first. */
  private def goOn(it: Scenario)(mend: Scenario => Any): String =
    try {
      it.run(1, addAgain = false)
      s"runs with ${partitions(it)}"
    } catch {
      case e: IllegalArgumentException =>
        assert(e.getMessage.startsWith("[KEYFOLD_RESCALE_UNFINISHED]"))
        val other = intercept[RescaleRefused](it.rescale(7))
        assert(other.condition == "KEYFOLD_RESCALE_UNFINISHED")
        for (batch <- 0 to 1) {
          val refused = intercept[RescaleRefused](
            AdminApi.rollback(it.session, it.folder.toString, batch.toLong, null, dryRun = false)
          )
          assert(refused.condition == "KEYFOLD_ROLLBACK_REFUSED")
        }
        val copy = Files.createTempDirectory("keyfold-copy").resolve("cp").toString
        intercept[Invalid](
          AdminApi.cloneCheckpoint(it.session, it.folder.toString, copy, -1, dryRun = false)
        )
        mend(it)
        it.run(1, addAgain = false)
        s"mended, runs with ${partitions(it)}"
    }

  private def requireExact(it: Scenario): Unit = {
    it.check()
    it.rescale(4)
    it.run(2)
    it.check()
  }

  private val joined = Scenario.all.filter(_.name.endsWith("format 3")).head

  for (shape <- Seq(Scenario.aggregation, joined))
    test(s"${shape.name}: whatever write fails, it is finished or undone (fault 14)") {
      val calls = writes(opened(shape), _.rescale(3))
      val written = calls.filter(_.what == "rename").map(_.path)
      assert(written.count(path => path.endsWith(".plan") || path.endsWith(".manifest")) == 2)
      assert(
        written.filter(_.matches("(offsets|commits)/.*")) == Seq(1, 1, 2)
          .zip(
            Seq("offsets", "commits", "offsets")
          )
          .map { case (n, log) =>
            s"$log/${n + (if (shape eq joined) logs(opened(shape)).lastCommitted.get - 1 else 0)}"
          }
      )
      val seen = mutable.Set.empty[Map[String, String]]
      val outcomes = for {
        fault <- Fault.ofEachKind(calls)(failures)
        broken = opened(shape)
        _ = breakOff(broken, fault)(_.rescale(3))
        // A write that failed leaves what one that succeeded left, before the next.
        if seen.add(Folders.outcome(broken.folder))
        undoes <- Seq(false, true)
      } yield withClue(s"$fault, undone: $undoes: ") {
        val it = broken.copied()
        val outcome = goOn(it)(it => if (undoes) it.undoRescale() else it.rescale(3))
        requireExact(it)
        outcome
      }
      assert(
        outcomes.toSet == Set(
          "runs with 2",
          "runs with 3",
          "mended, runs with 2",
          "mended, runs with 3"
        )
      )
    }

  test("whatever write of an undo fails, it is undone by undoing it again") {
    def rescaled() = {
      val it = opened()
      it.rescale(3)
      it
    }
    val calls = writes(rescaled(), _.undoRescale())
    val seen = mutable.Set.empty[Map[String, String]]
    val outcomes = for {
      fault <- Fault.ofEachKind(calls)(failures)
      it = rescaled()
      _ = breakOff(it, fault)(_.undoRescale())
      if seen.add(Folders.outcome(it.folder))
    } yield withClue(s"$fault: ") {
      val outcome = goOn(it)(_.undoRescale())
      requireExact(it)
      outcome
    }
    assert(outcomes.toSet == Set("runs with 2", "runs with 3", "mended, runs with 2"))
  }

  test("rescales before an open batch are undone one by one, and done again, to several numbers") {
    val it = opened()
    it.rescale(3)
    it.rescale(5)
    it.undoRescale()
    it.rescale(4)
    it.undoRescale()
    assert(logs(it).partitions(1).contains(3))
    it.undoRescale()
    val error = intercept[RescaleRefused](it.undoRescale())
    assert(error.condition == "KEYFOLD_RESCALE_UNDO")
    it.run(2, addAgain = false)
    assert(partitions(it) == 2)
    intercept[RescaleRefused](it.undoRescale())
    requireExact(it)
  }

  test(
    "what a driver commits that does not know of the rescale counts, and the rescale is undone"
  ) {
    val it = opened()
    val other = Files.createTempDirectory("keyfold-other").resolve("cp")
    Folders.copy(it.folder, other)
    val own = it.folder
    it.rescale(3)
    it.moveTo(other)
    it.run(1, addAgain = false)
    // The other driver's files are in the checkpoint, its commit too; it has not touched the rest.
    Folders.copy(other.resolve("state"), own.resolve("state"))
    Files.copy(other.resolve("commits/2"), own.resolve("commits/2"))
    it.moveTo(own)
    for (start <- Seq[() => Any](() => it.run(1), () => it.rescale(5))) {
      val error = intercept[Exception](start())
      assert(error.getMessage.contains("[KEYFOLD_RESCALE_UNFINISHED]"))
      assert(error.getMessage.contains("--undo --apply"))
    }
    it.undoRescale()
    it.run(1, addAgain = false)
    assert(partitions(it) == 2)
    requireExact(it)
  }

  test("of two rescales before an open batch one is made") {
    val it = opened()
    it.faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path.startsWith("offsets/"))
    intercept[Exception](it.rescale(3))
    it.faults.plan.clear()
    val error = intercept[RescaleRefused](it.rescale(5))
    assert(error.condition == "KEYFOLD_RESCALE_UNFINISHED")
    it.rescale(3)
    it.run(1, addAgain = false)
    requireExact(it)
  }

  test("an open batch is never taken for a rescale's own, which would be committed without input") {
    val it = opened()
    // What a rescale has left that was too late for the batch.
    val blobs = new LocalBlobStore(it.folder)
    RescalePlan.write(blobs, RescalePlan(PlanName(2, "late"), 2, 5, Nil))
    it.faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path == "offsets/2")
    intercept[Exception](it.rescale(3))
    it.faults.plan.clear()
    for (to <- Seq(2, 5))
      assert(intercept[RescaleRefused](it.rescale(to)).condition == "KEYFOLD_RESCALE_UNFINISHED")
    it.rescale(3)
    it.run(1, addAgain = false)
    it.check()
  }

  test("a query with state of one partition and of several is rescaled from one, and back to one") {
    val shape = Scenario.all.filter(_.name.startsWith("dropDuplicates, then")).head
    val it = new Scenario(spark, shape, 2, Map("spark.sql.shuffle.partitions" -> "1"))
    it.run(2)
    for (to <- Seq(5, 1)) {
      it.leaveOpen()
      it.rescale(to)
      it.run(2, addAgain = false)
      assert(partitions(it) == to)
    }
    it.check()
  }

  test("old files go once every new partition has files of its own") {
    val it = opened()
    it.rescale(3)
    it.run(1, addAgain = false)
    it.run(4, () => maintainFully())
    it.run(8, () => maintainFully())
    assert(it.state.plans.isEmpty && it.state.manifests.isEmpty && it.state.references.isEmpty)
    it.check()
  }

  test("after an undo the old files stay that the batch needs, and the plan goes") {
    val it = opened()
    it.rescale(3)
    it.undoRescale()
    it.run(1, addAgain = false)
    it.run(4, () => maintainFully())
    it.run(8, () => maintainFully())
    assert(it.state.plans.isEmpty && it.state.manifests.isEmpty && it.state.references.isEmpty)
    it.check()
  }

  /** Once for what hands the work out, and until the threads that got it have done it. */
  private def maintainFully(): Unit = {
    StateStores.maintain()
    eventually(assert(StateStores.isIdle))
    ()
  }

  test("an open batch is dropped by a rollback, and begun anew, before and after a rescale") {
    for (rescaled <- Seq(false, true)) {
      val it = opened()
      if (rescaled) it.rescale(3)
      AdminApi.rollback(it.session, it.folder.toString, 1, null, dryRun = false)
      it.run(2, addAgain = false)
      assert(partitions(it) == (if (rescaled) 3 else 2))
      requireExact(it)
    }
  }

  private def rollback(it: Scenario, batch: Long): String =
    ujson
      .read(AdminApi.rollback(it.session, it.folder.toString, batch, null, dryRun = false))(
        "aside"
      )
      .str

  test("a rescale is not undone once a rollback has dropped the batch before which it was") {
    val it = opened()
    it.rescale(3)
    rollback(it, 1)
    it.leaveOpen()
    assert(intercept[RescaleRefused](it.undoRescale()).condition == "KEYFOLD_RESCALE_UNDO")
    it.run(1, addAgain = false)
    assert(partitions(it) == 3)
    requireExact(it)
  }

  test("a rollback over a rescale before an open batch is undone, and the rescale after it") {
    val it = opened()
    it.rescale(3)
    val aside = rollback(it, 1)
    AdminApi.undoRollback(it.session, it.folder.toString, aside)
    it.undoRescale()
    it.run(1, addAgain = false)
    assert(partitions(it) == 2)
    requireExact(it)
  }

  test("after a rollback to a batch before which the query was rescaled, and after which again") {
    for (to <- Seq(2, 5)) {
      val it = opened()
      it.rescale(3)
      it.run(1, addAgain = false)
      it.leaveOpen()
      it.rescale(to)
      rollback(it, 2)
      it.run(1, addAgain = false)
      assert(partitions(it) == to)
      requireExact(it)
    }
  }

  test("a rescale is not undone over entries of the logs that were written since") {
    val it = opened()
    it.rescale(3)
    val entry = it.folder.resolve("offsets/2")
    val before = Files.readString(entry)
    Files.writeString(entry, before.replaceFirst("batchTimestampMs\":\\d", "batchTimestampMs\":2"))
    val error = intercept[RescaleRefused](it.undoRescale())
    assert(error.getMessage.contains("it has written offsets/2"))
    it.run(1, addAgain = false)
    requireExact(it)
  }

  test("the plan is lost: no file of the old layout is deleted that the new one needs") {
    val it = opened()
    it.rescale(3)
    it.state.plans.foreach(name => Files.delete(it.folder.resolve("keyfold").resolve(name)))
    it.run(12, () => maintainFully())
    it.check()
    StateStores.stop()
    it.run(1)
    it.check()
  }

  test("the plan is torn: commands send to fsck, and go on without it") {
    val it = opened()
    it.rescale(3)
    val plan = it.folder.resolve("keyfold").resolve(it.state.plans.head)
    Files.writeString(plan, "keyfold-rescale 1\n")
    Files.deleteIfExists(plan.resolveSibling(s".${plan.getFileName}.crc"))
    val error = intercept[Invalid](it.rescale(4))
    assert(error.getMessage.contains(s"`keyfold fsck file:${it.folder}`"))
    AdminApi.rollback(it.session, it.folder.toString, 0, "", dryRun = true)
    Files.delete(plan)
    it.run(1, addAgain = false)
    it.rescale(4)
    it.run(2)
    it.check()
  }

  test("format v1: an open batch is refused, and both ways out are named") {
    val it = opened(format = 1)
    val plan = AdminApi.planOf(it.session, it.folder.toString, 3)
    assert(plan.refusals.map(_.condition).head == "KEYFOLD_RESCALE_UNCOMMITTED_BATCH")
    val said = plan.refusals.head.getMessage
    assert(said.contains("AvailableNow") && said.contains("--to-batch 1 --apply"))
    it.run(1, addAgain = false)
    requireExact(it)
  }

  test("a query that is rescaled at its start goes on with its open batch") {
    val it = opened()
    it.session.conf.set("spark.sql.streaming.stateStore.keyfold.partitions", "3")
    it.run(2, addAgain = false)
    assert(partitions(it) == 3)
    it.check()
  }
}
