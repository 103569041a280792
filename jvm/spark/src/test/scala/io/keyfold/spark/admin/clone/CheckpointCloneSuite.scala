package io.keyfold.spark.admin.clone

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.spark.{KeyfoldExtensions, LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.admin.rescale.Scenario
import io.keyfold.spark.checkpoint.CheckpointLogs
import io.keyfold.testkit.Failure
import org.apache.spark.sql.keyfold.StateStores
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

/** A query goes on with a copy of its checkpoint as with the original, which may be gone. */
class CheckpointCloneSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(20.seconds, 10.millis)

  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private def newFolder() = Files.createTempDirectory("keyfold-copy").resolve("copy")

  private def copy(scenario: Scenario, batch: Long = -1, dryRun: Boolean = false) = {
    val to = newFolder()
    val json = AdminApi.cloneCheckpoint(
      scenario.session,
      scenario.folder.toString,
      to.toString,
      batch,
      dryRun
    )
    (to, ujson.read(json))
  }

  private def filesOf(folder: Path): Map[String, Seq[Byte]] =
    Using.resource(Files.walk(folder)) { paths =>
      paths.iterator.asScala
        .filter(Files.isRegularFile(_))
        .map(path => folder.relativize(path).toString -> Files.readAllBytes(path).toSeq)
        .toMap
    }

  private def queryId(folder: Path) = ujson.read(Files.readString(folder.resolve("metadata")))("id")

  private val stores = Scenario.all.filter(s =>
    Seq("aggregation", "aggregation without keys", "join, state format 3").contains(s.name)
  )

  for (shape <- stores; format <- Seq(1, 2))
    test(s"${shape.name}, checkpoint format v$format: goes on with a copy") {
      val it = new Scenario(spark, shape, format)
      it.run(3)
      val before = filesOf(it.folder)
      val (to, said) = copy(it)
      assert(filesOf(it.folder) == before, "the original is only read")
      assert(said("batch").num == 2 && said("applied").bool && queryId(to) != queryId(it.folder))
      // Whoever still looked there would find nothing.
      Files.move(it.folder, newFolder())
      it.moveTo(to)
      it.run(2)
      it.check()
    }

  test("a copy of a rescaled query has what its references name, and keeps it") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.rescale(12)
    val (to, _) = copy(it)
    Files.move(it.folder, newFolder())
    it.moveTo(to)
    assert(it.state.plans.length == 1 && it.state.references.length == 12)
    assert(it.state.manifests.length == 1)
    it.run(3)
    it.check()
  }

  test("a copy that needs no reference has no plan, which would keep its old files for ever") {
    val retained = Map("spark.sql.streaming.minBatchesToRetain" -> "10")
    val it = new Scenario(spark, Scenario.aggregation, format = 2, retained)
    it.run(2)
    it.rescale(12)
    it.run(
      5,
      () => {
        StateStores.maintain()
        eventually(assert(StateStores.isIdle))
        ()
      }
    )
    assert(it.state.plans.length == 1, "the original still has batches that need it")
    val (to, _) = copy(it)
    Files.move(it.folder, newFolder())
    it.moveTo(to)
    assert(it.state.plans.isEmpty && it.state.manifests.isEmpty && it.state.references.isEmpty)
    it.run(2)
    it.check()
  }

  test("a copy as of an earlier batch has that batch's state and no later one") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val (early, _) = copy(it)
    it.run(1)
    val (again, said) = copy(it, batch = 1)
    assert(said("batch").num == 1)
    // The third run's load may have led to a snapshot of that version, in place of older files.
    val ofVersion = "state/\\d+/\\d+/(\\d+)_[^.]*\\.(delta|snapshot)".r
    def versions(folder: Path) = filesOf(folder).keySet.collect { case ofVersion(v, _) => v.toLong }
    def heads(folder: Path) = filesOf(folder).filter { case (name, _) =>
      name.startsWith("state/") && name.contains("/2_") && name.endsWith(".delta")
    }
    assert(heads(early).nonEmpty && heads(again) == heads(early))
    assert(versions(again).max == 2)
    assert(new CheckpointLogs(it.session, again.toString).lastBegun == Some(1L))
  }

  test("a copy has the head of every partition, even where a load needs another file of it") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(5, () => StateStores.maintain())
    eventually(assert(StateStores.isIdle))
    val committed = filesOf(it.folder).keys.filter(_.matches("commits/\\d+")).toSeq
    // All that a query could start after, which the oldest is not.
    val batches = committed.map(_.split('/')(1).toLong).sorted.drop(1)
    val copied = for (batch <- batches) yield {
      val names = filesOf(copy(it, batch)._1).keys.filter(_.startsWith("state/0/")).toSeq
      val heads = names.filter(name => name.matches(s".*/${batch + 1}_[^.]*\\.delta"))
      assert(heads.length == 8, names)
      names.filter(name => name.matches(s".*/${batch + 1}_[^.]*\\.(snapshot|\\d+\\.merged)"))
    }
    assert(copied.flatten.nonEmpty, "no snapshot or merged delta of a version that was copied")
  }

  test("a savepoint is a checkpoint of the same query, inside, that nothing deletes") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val path = it.folder.toString
    val said = ujson.read(AdminApi.savepoint(it.session, path, "before-upgrade"))
    val savepoint = it.folder.resolve("keyfold/savepoints/before-upgrade")
    assert(said("to").str.endsWith(savepoint.toString) && queryId(savepoint) == queryId(it.folder))
    val whole = filesOf(savepoint)
    it.run(4, () => StateStores.maintain())
    assert(filesOf(savepoint) == whole)
    val taken = intercept[Invalid](AdminApi.savepoint(it.session, path, "before-upgrade"))
    assert(taken.condition == "KEYFOLD_CLONE_TARGET")
    intercept[Invalid](AdminApi.savepoint(it.session, path, "../elsewhere"))
  }

  test("a savepoint has what its query starts from, though retention deletes it meanwhile") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(3)
    val path = it.folder.toString
    val first = it.faults.plan.hold { c =>
      c.what == "rename" && c.path.startsWith("keyfold/savepoints/")
    }
    val made = Future(AdminApi.savepoint(it.session, path, "early"))(ExecutionContext.global)
    first.awaitArrival()
    for (entry <- Seq("offsets/1", "offsets/2", "commits/2"))
      Files.move(it.folder.resolve(entry), it.folder.resolve(s"$entry.gone"))
    first.open()
    Await.result(made, 1.minute)
    val to = newFolder()
    val savepoint = it.folder.resolve("keyfold/savepoints/early").toString
    AdminApi.cloneCheckpoint(it.session, savepoint, to.toString, -1, dryRun = false)
    it.moveTo(to)
    it.run(2)
    it.check()
  }

  test("a copy of a checkpoint that was moved goes on, where Spark names files by their old path") {
    val it = new Scenario(spark, stores.filter(_.name.contains("join")).head, format = 2)
    it.run(2)
    val (old, moved) = (it.folder, newFolder())
    Files.move(old, moved)
    it.moveTo(moved)
    val (to, _) = copy(it)
    val metadata = to.resolve("state/0/_metadata/v2").toFile.listFiles.filterNot(_.isHidden)
    for (text <- metadata.map(file => Files.readString(file.toPath))) {
      assert(text.contains(s"$to/state/0/_stateSchema/") && !text.contains(s"$old/"))
    }
    val schemas = moved.resolve("state/0/_stateSchema")
    Files.move(schemas, moved.resolve("elsewhere"))
    val lost = intercept[Invalid](copy(it))
    assert(
      lost.condition == "KEYFOLD_CHECKPOINT_DAMAGED" && lost.getMessage.contains("_stateSchema")
    )
    Files.move(moved, newFolder())
    it.moveTo(to)
    it.run(2)
    it.check()
  }

  test("a dry run writes nothing, and what cannot be copied is refused") {
    val it = new Scenario(spark, Scenario.aggregation, format = 1)
    it.run(1)
    val (to, said) = copy(it, dryRun = true)
    assert(!Files.exists(to) && !said("applied").bool && said("bytes").num > 0)
    val inside = it.folder.resolve("state/copy").toString
    val refused = intercept[Invalid](
      AdminApi.cloneCheckpoint(it.session, it.folder.toString, inside, -1, dryRun = false)
    )
    assert(
      refused.condition == "KEYFOLD_CLONE_TARGET" && refused.getMessage.contains("inside of it")
    )
    assert(intercept[Invalid](copy(it, batch = 7)).condition == "KEYFOLD_CLONE_BATCH")
  }

  test("the oldest batch in the logs is refused: Spark could not start after it") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(4)
    val names = filesOf(it.folder.resolve("offsets")).keys
    val oldest = names.flatMap(_.toLongOption).min
    assert(oldest > 0)
    val error = intercept[Invalid](copy(it, batch = oldest))
    assert(error.condition == "KEYFOLD_CLONE_BATCH")
    assert(error.getMessage.contains(s"the oldest batch to copy is ${oldest + 1}"))
    copy(it, batch = oldest + 1)
  }

  test("whatever write of a copy fails, it leaves nothing, and can be made again") {
    val it = new Scenario(spark, stores.filter(_.name.contains("join")).head, format = 2)
    it.run(2)
    it.faults.plan.clear()
    copy(it)
    val written = it.faults.plan.calls.count(_.what == "rename")
    assert(written > 20)
    // From the first file of the state to all but the last file, which is of the commit log.
    for (kept <- Seq(1, 2, written / 2, written - 2, written - 1)) withClue(s"$kept files: ") {
      val to = newFolder()
      val writes = new AtomicInteger
      def copyTo() =
        AdminApi.cloneCheckpoint(it.session, it.folder.toString, to.toString, -1, dryRun = false)
      it.faults.plan.fail(Failure.Within(1))(_.what == "write" && writes.incrementAndGet() > kept)
      intercept[Exception](copyTo())
      it.faults.plan.clear()
      assert(!Files.exists(to))
      copyTo()
      val before = filesOf(to)
      assert(intercept[Invalid](copyTo()).condition == "KEYFOLD_CLONE_TARGET")
      assert(filesOf(to) == before)
    }
  }

  test("a copy that broke off does not start as a query that knows nothing") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val (to, _) = copy(it)
    Files.list(to.resolve("commits")).iterator.asScala.toList.foreach(Files.delete)
    Files.move(it.folder, newFolder())
    it.moveTo(to)
    val error = intercept[Exception](it.run(1))
    assert(error.getMessage.contains("KEYFOLD_") || error.getMessage.contains("state"))
  }
}
