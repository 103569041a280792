package io.keyfold.spark.admin.clone

import java.nio.file.{Files, Path, StandardOpenOption}
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.spark.{KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.admin.rescale.Scenario
import io.keyfold.testkit.{Failure, Folders}
import org.apache.commons.io.FileUtils
import org.apache.spark.sql.keyfold.StateStores
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** A copy that is brought up to date again and again is always one that its query can go on with.
  */
class CheckpointSyncSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(20.seconds, 10.millis)

  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private def newFolder() = Files.createTempDirectory("keyfold-sync").resolve("copy")

  private def sync(it: Scenario, to: Path) =
    ujson.read(AdminApi.sync(it.session, it.folder.toString, to.toString))

  private def filesOf(folder: Path): Map[String, Seq[Byte]] =
    Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala
        .filter(Files.isRegularFile(_))
        .map(path => folder.relativize(path).toString -> Files.readAllBytes(path).toSeq)
        .filterNot(_._1.split('/').exists(_.startsWith(".")))
        .toMap
    }

  /** What a copy has whatever was there before; without absolute paths and what syncs note. */
  private def contentOf(folder: Path): Map[String, Seq[Byte]] =
    filesOf(folder).removed("keyfold/synced").removed("metadata").map { case (path, bytes) =>
      path -> (if (path.contains("/_metadata/v2/")) Nil else bytes)
    }

  private def maintain(): Unit = {
    StateStores.maintain()
    eventually(assert(StateStores.isIdle))
    ()
  }

  private def queryId(folder: Path) = ujson.read(Files.readString(folder.resolve("metadata")))("id")

  private val stores = Scenario.all.filter(s =>
    Seq("aggregation", "aggregation without keys", "join, state format 3").contains(s.name)
  )

  for (shape <- stores; format <- Seq(1, 2))
    test(s"${shape.name}, checkpoint format v$format: the query goes on with the copy") {
      val it = new Scenario(spark, shape, format)
      val to = newFolder()
      for (batches <- 1 to 4) {
        it.run(batches, () => maintain())
        val said = sync(it, to)
        val once = newFolder()
        sync(it, once)
        assert(contentOf(to) == contentOf(once), s"after $batches batches")
        assert(said("deleted").num > 0 || batches == 1)
      }
      assert(queryId(to) != queryId(it.folder))
      val done = contentOf(to)
      val again = sync(it, to)
      assert(again("files").num == 0 && again("deleted").num == 0 && contentOf(to) == done)
      assert(again("batch").num == 9)
      // Whoever still looked there would find nothing.
      Files.move(it.folder, newFolder())
      it.moveTo(to)
      it.run(2)
      it.check()
    }

  test("only what is new is copied, each file once") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    val to = newFolder()
    var (bytes, seen) = (0L, Map.empty[String, Long])
    for (_ <- 1 to 6) {
      it.run(1, () => maintain())
      bytes += sync(it, to)("bytes").num.toLong
      seen ++= filesOf(to).collect {
        case (path, content) if !path.matches("(offsets|commits|keyfold)/.*|metadata|.*/v2/.*") =>
          path -> content.length.toLong
      }
    }
    assert(bytes == seen.values.sum)
  }

  test("a rescaled query's copy has what its references name, and gives it up when it may") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    val to = newFolder()
    it.run(2)
    sync(it, to)
    it.rescale(12)
    sync(it, to)
    def kept = filesOf(to).keySet.filter(path => path.startsWith("keyfold/rescale-"))
    assert(kept.size == 2)
    val early = it.copied()
    FileUtils.deleteDirectory(early.folder.toFile)
    Folders.copy(to, early.folder)
    early.run(3)
    early.check()
    it.run(5, () => maintain())
    sync(it, to)
    assert(kept.isEmpty)
    it.moveTo(to)
    it.run(2)
    it.check()
  }

  /** A query like this, elsewhere, on a copy of the folder. */
  private def startedOn(it: Scenario, folder: Path): Scenario = {
    val other = it.copied()
    FileUtils.deleteDirectory(other.folder.toFile)
    Folders.copy(folder, other.folder)
    other
  }

  test("killed at any write or deletion, a query starts right or not at all, and it is finished") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    val to = newFolder()
    it.run(2)
    sync(it, to)
    it.run(3, () => maintain())
    val before = newFolder()
    Folders.copy(to, before)
    val whole = newFolder()
    sync(it, whole)
    def isStep(what: String) = what == "rename" || what == "delete"
    it.faults.plan.clear()
    sync(it, to)
    val steps = it.faults.plan.calls.filter(c => isStep(c.what)).map(_.path)
    val ofLogs = steps.indexWhere(_.endsWith("/offsets/4"))
    assert(ofLogs > 10 && steps.length > ofLogs + 10)
    // Each step about the entries of the logs, some of the others.
    val kills = (steps.indices.by(7) ++ (ofLogs - 1 to ofLogs + 3)).distinct
    val outcomes =
      for (kept <- kills) yield withClue(s"$kept of ${steps.length} steps: ") {
        FileUtils.deleteDirectory(to.toFile)
        Folders.copy(before, to)
        val done = new AtomicInteger
        it.faults.plan.fail(Failure.Before)(c => isStep(c.what) && done.incrementAndGet() > kept)
        intercept[Exception](sync(it, to))
        it.faults.plan.clear()
        val other = startedOn(it, to)
        val last = other.sinkBatches.last
        val outcome =
          try {
            other.run(1)
            other.check()
            s"goes on after ${other.sinkBatches.drop(it.sinkBatches.length).head - 1}"
          } catch {
            case e: Exception =>
              assert(other.sinkBatches.last == last && e.getMessage.contains("KEYFOLD_"))
              "refused"
          }
        sync(it, to)
        assert(contentOf(to) == contentOf(whole))
        outcome
      }
    assert(outcomes.toSet == Set("goes on after 1", "refused", "goes on after 4"))
  }

  test("after a rescale before an open batch the copy follows with the next batch") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    val to = newFolder()
    it.run(3)
    sync(it, to)
    it.leaveOpen()
    it.rescale(5)
    val before = filesOf(to)
    assert(sync(it, to)("files").num == 0 && filesOf(to) == before)
    it.undoRescale()
    assert(sync(it, to)("batch").num == 2)
    it.rescale(3)
    it.run(1, addAgain = false)
    assert(sync(it, to)("batch").num == 3)
    it.moveTo(to)
    it.run(2)
    it.check()
  }

  test("of two syncs at once the slower one stops, and damages nothing") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    val to = newFolder()
    it.run(2)
    sync(it, to)
    it.run(2)
    val gate = it.faults.plan.hold(c => c.what == "rename" && c.path.startsWith(s"$to/state/"))
    val slower = Future(sync(it, to))(ExecutionContext.global)
    gate.awaitArrival()
    it.run(2)
    sync(it, to)
    val before = filesOf(to)
    gate.open()
    val error = intercept[Invalid](Await.result(slower, 1.minute))
    assert(error.condition == "KEYFOLD_CONCURRENT_UPDATE")
    assert(before.toSet.subsetOf(filesOf(to).toSet))
    sync(it, to)
    it.moveTo(to)
    it.run(2)
    it.check()
  }

  test("a query that has begun there meanwhile is left alone, and so is a savepoint") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    val to = newFolder()
    it.run(2)
    sync(it, to)
    AdminApi.savepoint(it.session, to.toString, "kept")
    Files.writeString(to.resolve("notes.txt"), "mine")
    it.run(2)
    sync(it, to)
    val left = Set("keyfold/savepoints/kept/commits/1", "notes.txt")
    assert(left.subsetOf(filesOf(to).keySet) && !filesOf(to).contains("commits/1"))
    it.run(2)
    val gate = it.faults.plan.hold(c => c.what == "rename" && c.path.startsWith(s"$to/state/"))
    val slow = Future(sync(it, to))(ExecutionContext.global)
    gate.awaitArrival()
    val elsewhere = it.copied()
    elsewhere.moveTo(to)
    elsewhere.run(1)
    gate.open()
    val error = intercept[Invalid](Await.result(slow, 1.minute))
    assert(error.condition == "KEYFOLD_SYNC_TARGET")
    elsewhere.run(1)
    elsewhere.check()
  }

  test("a first sync that was killed is finished by the next") {
    val it = new Scenario(spark, Scenario.aggregation, format = 1)
    it.run(2)
    for (kept <- Seq(0, 1, 2, 10)) {
      val to = newFolder()
      val done = new AtomicInteger
      it.faults.plan.fail(Failure.Before)(c => c.what == "rename" && done.incrementAndGet() > kept)
      intercept[Exception](sync(it, to))
      it.faults.plan.clear()
      assert(sync(it, to)("batch").num == 1)
      assert(filesOf(to).contains("commits/1"))
    }
  }

  private def refused(it: Scenario, to: Path): String = {
    val before = filesOf(to)
    val error = intercept[Invalid](sync(it, to))
    assert(error.condition == "KEYFOLD_SYNC_TARGET" && filesOf(to) == before)
    error.getMessage
  }

  test("what another has written is left alone: another query, one that has run there, a clone") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val (synced, cloned, files) = (newFolder(), newFolder(), newFolder())
    sync(it, synced)
    AdminApi.cloneCheckpoint(it.session, it.folder.toString, cloned.toString, -1, dryRun = false)
    assert(refused(it, cloned).contains("no sync of this query"))
    Files.createDirectories(files)
    Files.writeString(files.resolve("notes.txt"), "mine")
    assert(refused(it, files).contains("no sync of this query"))
    val elsewhere = it.copied()
    FileUtils.deleteDirectory(elsewhere.folder.toFile)
    elsewhere.moveTo(synced)
    elsewhere.run(1)
    // Retention may have taken the batches that both have had.
    it.run(6)
    assert(refused(it, synced).contains("a query has run there"))
    val inside = intercept[Invalid](sync(it, it.folder.resolve("state/copy")))
    assert(inside.condition == "KEYFOLD_CLONE_TARGET")
  }

  test("a query that has gone back does not lead its copy into another past") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val older = newFolder()
    Folders.copy(it.folder, older)
    it.run(1)
    val to = newFolder()
    sync(it, to)
    val rolledBack = it.copied()
    AdminApi.rollback(it.session, rolledBack.folder.toString, 1, "", dryRun = false)
    assert(refused(rolledBack, to).contains("rolled back"))
    it.moveTo(older)
    assert(refused(it, to).contains("not run their batch 2"))
    it.run(2)
    assert(refused(it, to).contains("not run their batch 2"))
  }

  test("a file that was cut short in the copy is copied again") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val to = newFolder()
    sync(it, to)
    val whole = filesOf(to)
    val delta = to.resolve(whole.keys.filter(_.endsWith(".delta")).max)
    Files.write(delta, Array[Byte](1), StandardOpenOption.TRUNCATE_EXISTING)
    assert(sync(it, to)("files").num == 1 && filesOf(to) == whole)
  }
}
