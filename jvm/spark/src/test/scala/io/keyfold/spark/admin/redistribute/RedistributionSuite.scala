package io.keyfold.spark.admin.redistribute

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.{KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.testkit.{Failure, Fault, FileCall, Folders, Running}
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.keyfold.StateStores
import org.scalatest.funsuite.AnyFunSuite

/** The state of an operator's subtasks is given to other subtasks, between two batches and before
  * an open one. Whatever breaks off, it is of the old subtasks or of the new ones, as a whole.
  */
class RedistributionSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val begins = mutable.Map.empty[(Boolean, Int, String), SubtaskQuery]

  /** Two batches of two subtasks are committed. They run once; each query goes on with a copy. */
  private def begun(
      isOpen: Boolean = false,
      format: Int = 2,
      encoding: String = "unsaferow"
  ): SubtaskQuery = {
    assume(SPARK_VERSION >= "4.1", "Spark 4.0's source cannot read format 2")
    def begin() = {
      val it = new SubtaskQuery(spark, format, encoding)
      it.run(2)
      it.run(2)
      if (isOpen) it.leaveOpen(2)
      it
    }
    begins.getOrElseUpdate((isOpen, format, encoding), begin()).copied()
  }

  private def logs(it: SubtaskQuery) = new CheckpointLogs(it.session, it.folder.toString)

  for (isOpen <- Seq(false, true)) {
    val name = if (isOpen) "before an open batch" else "between batches"

    test(s"$name: from 2 subtasks to 3, 5, 1 and 4, on 3 partitions") {
      val it = begun(isOpen)
      for (to <- Seq(3, 5, 1, 4)) {
        it.redistribute(to)
        it.check()
        it.run(to, addAgain = !isOpen)
        it.check()
        if (isOpen) it.leaveOpen(to)
      }
    }

    test(s"$name: whatever write fails, it is of the old subtasks or of the new ones (fault 14)") {
      val calls = {
        val it = begun(isOpen)
        it.faults.plan.clear()
        it.redistribute(3)
        it.faults.plan.calls.filter(call => Set("rename", "delete")(call.what))
      }
      val written = calls.filter(_.what == "rename").map(_.path)
      assert(
        written.filterNot(_.startsWith("state/")) == Seq(
          "keyfold/rescale-2-open-1.plan",
          "commits/1"
        )
      )
      assert(written.filter(_.startsWith("state/")).forall(_.matches("state/0/[012]/2_.*")))
      val seen = mutable.Map.empty[Map[String, String], Int]
      val outcomes = for (fault <- Fault.ofEachKind(calls)(failures)) yield withClue(s"$fault: ") {
        val it = begun(isOpen)
        it.faults.plan.arm(fault)
        try it.redistribute(3)
        catch { case e: Exception => assert(causes(e).exists(_.getMessage.contains("injected"))) }
        assert(it.faults.plan.hasFailed, "the fault was not met")
        it.faults.plan.clear()
        val parallelism = it.parallelism
        it.modelled(parallelism)
        it.check()
        // A write that failed leaves what one that succeeded left, before the next: from there the
        // query goes on twice, the second time with another redistribution.
        val outcome = Folders.outcome(it.folder)
        val times = seen.getOrElse(outcome, 0)
        seen(outcome) = times + 1
        val next = if (times == 0) parallelism else 4
        if (times < 2) {
          if (next == 4) it.redistribute(4)
          it.run(next, addAgain = !isOpen)
          it.check()
        }
        parallelism
      }
      assert(outcomes.toSet == Set(2, 3))
    }

    test(s"$name: what no batch has committed does not count, however often it changes") {
      val it = begun(isOpen)
      val before = ids(it)
      for (to <- Seq(3, 2)) {
        it.redistribute(to)
        it.check()
      }
      assert(ids(it) == before)
      for (to <- Seq(5, 3, 4)) {
        it.redistribute(to)
        it.check()
      }
      // Each is undone, the last first.
      for (to <- Seq(3, 5, 2, 3, 2)) {
        it.undo()
        it.modelled(to)
        it.check()
      }
      assert(ids(it) == before)
      it.redistribute(3)
      it.run(3, addAgain = !isOpen)
      it.check()
    }

    test(s"$name: a clone and a savepoint have what the last batch left") {
      val it = begun(isOpen)
      for (to <- Seq(3, 5)) it.redistribute(to)
      it.modelled(2)
      val clone = Files.createTempDirectory("keyfold-clone").resolve("cp").toString
      AdminApi.cloneCheckpoint(it.session, it.folder.toString, clone, -1, dryRun = false)
      AdminApi.savepoint(it.session, it.folder.toString, "stop")
      for (copy <- Seq(Path.of(clone), it.folder.resolve("keyfold/savepoints/stop"))) {
        it.moveTo(copy)
        it.check()
      }
      // It goes on with others, from what the batch left.
      it.redistribute(3)
      it.check()
      it.run(3, addAgain = !isOpen)
      it.check()
    }

    test(s"$name: of two that read the same state one wins, and the other changes nothing") {
      val it = begun(isOpen)
      it.redistributing(5) { second =>
        second.plan()
        it.redistribute(3)
        refused("KEYFOLD_RESCALE_RACE")(second.run())
      }
      it.check()
      // The other has made its plan, and comes late with the entry.
      val commit = it.faults.plan.hold(c => c.what == "rename" && c.path == "commits/1")
      val late = new Running(it.redistributing(4)(_.run()))
      commit.awaitArrival()
      it.redistribute(5)
      commit.open()
      refused("KEYFOLD_RESCALE_RACE")(late.result())
      it.check()
      it.run(5, addAgain = !isOpen)
      it.check()
    }

    test(s"$name: of a rescale and a redistribution one wins, and the other says so") {
      requireFewer()
      // Each is held before its first and its last file.
      val first = if (isOpen) "keyfold/rescale-2-open-1.plan" else "offsets/2"
      for (held <- Seq(first, if (isOpen) "commits/1" else "commits/2")) withClue(s"$held: ") {
        val it = begun(isOpen)
        val gate = it.faults.plan.hold(c => c.what == "rename" && c.path == held)
        val rescale = new Running(rescaled(it, 2))
        gate.awaitArrival()
        val redistributed = Try(it.redistribute(3))
        gate.open()
        val ended = Try(rescale.result())
        assert(ended.isFailure != redistributed.isFailure, s"$ended, $redistributed")
        assert(
          Set("KEYFOLD_RESCALE_RACE", "KEYFOLD_RESCALE_UNFINISHED")(
            conditionOf((ended.failed orElse redistributed.failed).get)
          )
        )
        // Its batch is begun. Run again, it goes by what the last batch left.
        if (ended.isFailure && !isOpen) {
          rescaled(it, 2)
          it.modelled(2)
        }
        it.check()
        it.run(it.parallelism, addAgain = !isOpen)
        it.check()
      }
    }

    test(s"$name: it is undone, whatever write of the undo fails, until the query has run") {
      def done() = {
        val it = begun(isOpen)
        it.unchanged(it.redistribute(3))
        it
      }
      val calls = {
        val it = done()
        it.faults.plan.clear()
        it.undo()
        it.faults.plan.calls.filter(call => Set("rename", "delete")(call.what))
      }
      val seen = mutable.Set.empty[Map[String, String]]
      for {
        fault <- None +: Fault.ofEachKind(calls)(failures).map(Some(_))
        it = done()
        _ = fault.foreach(it.faults.plan.arm(_))
        _ =
          try it.undo()
          catch { case e: Exception => assert(causes(e).exists(_.getMessage.contains("injected"))) }
        _ = it.faults.plan.clear()
        if seen.add(Folders.outcome(it.folder))
      } withClue(s"$fault: ") {
        if (it.parallelism == 3) it.undo()
        it.check()
        it.run(2, addAgain = !isOpen)
        it.check()
        assert(intercept[RescaleRefused](it.undo()).condition == "KEYFOLD_RESCALE_UNDO")
      }
    }
  }

  test("state in Avro goes to other subtasks") {
    val it = begun(encoding = "avro")
    it.redistribute(3)
    it.check()
    it.run(3)
    it.check()
  }

  private def ids(it: SubtaskQuery) = logs(it).ids(1).get(0).map(_.toSeq).toSeq

  private def conditionOf(e: Throwable) = e match {
    case it: RescaleRefused => it.condition
    case other              => other.toString
  }

  private def failures(call: FileCall): Seq[Failure] =
    if (call.what == "rename") Seq(Failure.Before, Failure.After) else Seq(Failure.Before)

  private def causes(e: Throwable) = Iterator.iterate(e)(_.getCause).takeWhile(_ != null)

  test("what a driver commits that does not know of it counts, and it is done again (fault 13)") {
    val it = begun(isOpen = true)
    val (own, other) = (it.folder, Files.createTempDirectory("keyfold-other").resolve("cp"))
    Folders.copy(own, other)
    it.unchanged(it.redistribute(3))
    it.moveTo(other)
    it.run(2, addAgain = false)
    Folders.copy(other.resolve("state"), own.resolve("state"))
    Files.copy(other.resolve("commits/2"), own.resolve("commits/2"))
    it.moveTo(own)
    it.check()
    it.run(2)
    it.check()
    it.redistribute(3)
    it.run(3)
    it.check()
  }

  test("only files of this operator are written, and ids of other state stay") {
    val it = begun()
    def files = Using.resource(Files.walk(it.folder.resolve("state/1")))(
      _.iterator.asScala.map(path => path -> Files.getLastModifiedTime(path)).toMap
    )
    def idsOf(operator: Long) = logs(it).ids(1).get(operator).map(_.toSeq).toSeq
    val (filesBefore, other, own) = (files, idsOf(1), idsOf(0))
    // The third of 3 partitions has no subtask.
    it.redistribute(1)
    assert(files == filesBefore && idsOf(1) == other)
    assert(idsOf(0).zip(own).map { case (a, b) => a == b } == Seq(false, false, true))
    it.run(1)
    it.check()
  }

  test("the state of a batch before, and the plan, go with time, and no batch is lost") {
    val it = begun()
    it.session.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    it.session.conf.set("spark.sql.streaming.ratioExtraSpaceAllowedInCheckpoint", "0")
    it.session.conf.set("spark.sql.streaming.stateStore.minDeltasForSnapshot", "2")
    def plans = it.folder.resolve("keyfold").toFile.list.filter(_.endsWith(".plan")).toSet
    def run(parallelism: Int, times: Int) = for (_ <- 1 to times) {
      it.run(parallelism)
      StateStores.maintain()
      while (!StateStores.isIdle) Thread.`yield`()
    }
    // The second is made while the first is still there.
    it.redistribute(3)
    run(3, 1)
    for (to <- Seq(5, 4, 2)) it.redistribute(to)
    assert(plans == Set(2 -> 1, 3 -> 1, 3 -> 2, 3 -> 3).map { case (b, n) =>
      s"rescale-$b-open-$n.plan"
    })
    run(2, 8)
    it.check()
    assert(plans.isEmpty)
    val versions = Using.resource(Files.list(it.folder.resolve("state/0/0"))) {
      _.iterator.asScala.map(_.getFileName.toString).filter(_.head.isDigit).toList
    }
    assert(versions.map(_.takeWhile(_.isDigit).toInt).min > 5, versions)
    it.redistribute(3)
    it.run(3)
    it.check()
  }

  test("a rollback to the batch before has the subtasks of before") {
    val it = begun()
    it.unchanged {
      it.redistribute(3)
      it.run(3)
    }
    AdminApi.rollback(it.session, it.folder.toString, 0, null, dryRun = false)
    assert(it.parallelism == 2)
  }

  test("after a rollback to the last batch what it left counts") {
    val it = begun(isOpen = true)
    it.redistribute(3)
    AdminApi.rollback(it.session, it.folder.toString, 1, null, dryRun = false)
    it.check()
    it.redistribute(2)
    it.check()
    it.redistribute(5)
    it.check()
    it.undo()
    it.modelled(2)
    it.check()
  }

  test("if the last batch runs again, what it leaves then counts") {
    val it = begun()
    it.redistribute(3)
    for (entry <- Seq("1", ".1.crc")) Files.deleteIfExists(it.folder.resolve(s"commits/$entry"))
    it.unchanged(it.run(2, addAgain = false))
    it.modelled(2)
    it.check()
    val before = ids(it)
    it.redistribute(3)
    it.check()
    it.redistribute(2)
    assert(ids(it) == before)
    it.check()
  }

  for (isOpen <- Seq(false, true))
    test(s"rescales and redistributions at one stop, in any order, isOpen: $isOpen") {
      requireFewer()
      val it = begun(isOpen)
      it.redistribute(4)
      // A rescale goes by what the last batch left, and so does what comes after it.
      for (partitions <- Seq(2, 5, 3)) withClue(s"$partitions partitions: ") {
        rescaled(it, partitions)
        it.modelled(2)
        it.check()
        for (to <- Seq(3, 1, 4)) {
          it.redistribute(to)
          it.check()
        }
      }
      it.run(4, addAgain = !isOpen)
      it.check()
      it.redistribute(3)
      it.run(3)
      it.check()
    }

  test("both are undone before an open batch, the last first") {
    requireFewer()
    val it = begun(isOpen = true)
    it.redistribute(3)
    rescaled(it, 2)
    it.modelled(2)
    it.redistribute(4)
    // The redistribution, the rescale, and it is as it was before both.
    for (_ <- 1 to 2) {
      it.undo()
      it.modelled(2)
      it.check()
    }
    assert(logs(it).partitions(1).contains(3))
    it.run(2, addAgain = false)
    it.check()
  }

  test("an undo passes over metadata that a failed attempt at the open batch has written") {
    val it = begun(isOpen = true)
    rescaled(it, 2)
    val metadata = it.folder.resolve("state/0/_metadata/v2/2")
    Files.writeString(metadata, Files.readString(metadata) + "\n")
    Files.deleteIfExists(metadata.resolveSibling(".2.crc"))
    it.undo()
    it.check()
    it.run(2, addAgain = false)
    it.check()
  }

  private def requireFewer() = assume(
    SPARK_VERSION >= "4.2",
    "Spark 4.1's source reads no batch with fewer partitions than the checkpoint has folders"
  )

  private def rescaled(it: SubtaskQuery, to: Int) =
    AdminApi.applyTo(it.session, it.folder.toString, to)

  test("refused: format v1, a wrong parallelism, no such operator, an unfinished rescale") {
    refused("KEYFOLD_REDISTRIBUTE_FORMAT")(begun(format = 1).redistribute(3))
    val it = begun()
    for (to <- Seq(0, 2, 6)) refused("KEYFOLD_REDISTRIBUTE_PARALLELISM")(it.redistribute(to))
    val other = """"condition":"KEYFOLD_REDISTRIBUTE_NO_OPERATOR""""
    assert(AdminApi.redistribute(it.session, it.folder.toString, "x", "1,2", true).contains(other))
    it.leaveOpen(2)
    it.faults.plan.fail(Failure.Before)(c => c.what == "rename" && c.path == "commits/1")
    intercept[Exception](
      AdminApi.applyTo(it.session, it.folder.toString, 2)
    )
    it.faults.plan.clear()
    refused("KEYFOLD_RESCALE_UNFINISHED")(it.redistribute(3))
  }

  private def refused(condition: String)(body: => Any): Unit = {
    assert(intercept[RescaleRefused](body).condition == condition)
    ()
  }
}
