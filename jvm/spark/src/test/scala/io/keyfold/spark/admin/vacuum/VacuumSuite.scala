package io.keyfold.spark.admin.vacuum

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}
import java.time.Instant
import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.errors.Invalid
import io.keyfold.format.FileKind
import io.keyfold.model.VersionId
import io.keyfold.spark.{LocalSpark, QuietLogs}
import io.keyfold.spark.admin.AdminApi
import io.keyfold.spark.admin.rescale.Scenario
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.sql.keyfold.{SparkShim, StateStores}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

class VacuumSuite extends AnyFunSuite with QuietLogs with LocalSpark with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(20.seconds, 10.millis)

  private val Hour = 3600000L

  private def vacuum(it: Scenario, paths: Seq[String], ageMs: Long, dryRun: Boolean = false) =
    ujson.read(
      AdminApi.vacuum(it.session, it.folder.toString, paths.mkString("\n"), ageMs, dryRun)
    )

  private def plant(it: Scenario, path: String): Path = {
    val file = it.folder.resolve(path)
    Files.createDirectories(file.getParent)
    Files.write(file, new Array[Byte](10))
  }

  test("what is old goes, what is young stays, a dry run deletes nothing; the query goes on") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val attempt = s"state/0/3/2_${UUID.randomUUID}.delta"
    val folder = "state/9"
    val files = Seq(plant(it, attempt), plant(it, s"$folder/0/1.delta"))
    val planned = vacuum(it, Seq(attempt, folder), ageMs = 0, dryRun = true)
    assert(planned("unreferenced").arr.map(_("bytes").num).toSeq == Seq(10, 10))
    assert(!planned("applied").bool && files.forall(Files.exists(_)))
    val young = vacuum(it, Seq(attempt, folder), ageMs = Hour)
    assert(young("unreferenced").arr.forall(!_("old").bool) && files.forall(Files.exists(_)))
    vacuum(it, Seq(attempt, folder), ageMs = 0)
    assert(files.forall(!Files.exists(_)))
    it.run(1)
    it.check()
  }

  test("files of a batch that is not committed yet stay, however old; the first has no other") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(1)
    Files.delete(it.folder.resolve("commits/0"))
    val before = filesBelow(it.folder)
    val refused = intercept[Invalid](vacuum(it, Seq("state/0/3"), ageMs = 0))
    assert(refused.getMessage.contains("batch 0, which is not committed yet"))
    assert(filesBelow(it.folder) == before)
  }

  private def filesBelow(folder: Path): Set[String] = Using.resource(Files.walk(folder)) {
    _.iterator.asScala
      .filter(Files.isRegularFile(_))
      .map(folder.relativize(_).toString)
      .filterNot(_.endsWith(".crc"))
      .toSet
  }

  private def versionsOf(files: Set[String], kind: FileKind): Set[Long] = files
    .filter(_.startsWith("state/0/0/"))
    .flatMap(path => FileKind.parse(path.drop("state/0/0/".length)))
    .collect { case (VersionId(version, _), `kind`) => version }

  /** A query whose logs are shorter than what its oldest batch is made of. */
  private def withOldBase(format: Int) = {
    val it = new Scenario(spark, Scenario.aggregation, format)
    def maintain(): Unit = {
      StateStores.maintain()
      eventually(assert(StateStores.isIdle))
      ()
    }
    it.run(8, () => maintain())
    val files = filesBelow(it.folder)
    val oldest = files.collect { case s"commits/$batch" => batch.toLong + 1 }.min
    assert(versionsOf(files, FileKind.Snapshot).min < oldest)
    assert(versionsOf(files, FileKind.Delta).exists(_ < oldest))
    it
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: of all files that there are, none that a retained batch needs goes") {
      val it = withOldBase(format)
      val files = filesBelow(it.folder)
      val folders = Seq("state", "state/", "state//0", "state/./0", "state/0/0/_metadata")
      for (path <- files.toSeq.sorted ++ folders) withClue(s"$path: ") {
        val error = intercept[Invalid](vacuum(it, Seq(path), ageMs = 0))
        assert(error.condition == "KEYFOLD_VACUUM_IN_USE")
      }
      assert(filesBelow(it.folder) == files)
      it.run(1)
      it.check()
    }

  test("an attempt beside old files of a retained batch goes, and they stay") {
    val it = withOldBase(2)
    val files = filesBelow(it.folder)
    val base = versionsOf(files, FileKind.Snapshot).min
    val attempts = for (version <- Seq(base, base + 1)) yield {
      val path = s"state/0/0/${version}_${UUID.randomUUID}.delta"
      plant(it, path)
      path
    }
    vacuum(it, attempts, ageMs = 0)
    assert(filesBelow(it.folder) == files)
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: what comes into a folder after it was checked stays") {
      val it = new Scenario(spark, Scenario.aggregation, format)
      it.run(2)
      plant(it, "state/0/97/3_x.ref")
      plant(it, "state/0/97/left/3_x.ref")
      plant(it, "state/0/98/3.ref")
      CheckpointTools.using(it.session, it.folder.toString) { tools =>
        // As a rescale would that runs beside it: another file, and one of the same name.
        val vacuum = new Vacuum(
          tools,
          System.currentTimeMillis(),
          0,
          _ => {
            plant(it, "state/0/97/3_y.ref")
            Files.write(it.folder.resolve("state/0/98/3.ref"), new Array[Byte](11))
            ()
          }
        )
        vacuum.run(Seq("state/0/97", "state/0/98", "state/0/98/3.ref"), dryRun = false)
      }
      val left = filesBelow(it.folder).filter(path => path.matches("state/0/9[78]/.*"))
      assert(left == Set("state/0/97/3_y.ref", "state/0/98/3.ref"))
      assert(!Files.exists(it.folder.resolve("state/0/97/left")))
    }

  test("no file goes or stays by its time alone, as clocks may be wrong (fault 19)") {
    val it = withOldBase(2)
    val files = filesBelow(it.folder)
    val attempt = s"state/0/0/8_${UUID.randomUUID}.delta"
    def setTime(path: String, time: String) =
      Files.setLastModifiedTime(it.folder.resolve(path), FileTime.from(Instant.parse(time)))
    files.foreach(setTime(_, "1970-01-02T00:00:00Z"))
    for (path <- files.toSeq.filter(_.startsWith("state/")).sorted)
      withClue(path)(intercept[Invalid](vacuum(it, Seq(path), ageMs = Hour)))
    plant(it, attempt)
    setTime(attempt, "2090-01-01T00:00:00Z")
    vacuum(it, Seq(attempt), ageMs = Hour)
    assert(filesBelow(it.folder) == files + attempt)
  }

  /** The file that a writer leaves which is killed while it writes another. */
  private def leftOf(it: Scenario, path: String): String = {
    val root = new HadoopPath(it.folder.toUri)
    val out = SparkShim.CheckpointFileManager
      .create(root, new Configuration)
      .createAtomic(new HadoopPath(root, path), overwriteIfPossible = true)
    out.write(new Array[Byte](10))
    out.flush()
    filesBelow(it.folder).filter(_.endsWith(".tmp")).head
  }

  test("a temporary file of a writer goes when it is old, wherever it is; nothing else hidden") {
    val it = new Scenario(spark, Scenario.aggregation, format = 1)
    it.run(1)
    val real = leftOf(it, "state/0/2/3.delta")
    def left(path: String, suffix: String) = {
      val name = path.drop(path.lastIndexOf('/') + 1)
      s"${path.dropRight(name.length)}.$name.${UUID.randomUUID}$suffix.tmp"
    }
    val paths = Seq(
      left("state/0/0/2.delta", ".TID17"),
      left("state/0/1/1.snapshot", ""),
      left("offsets/1", ""),
      left("commits/0", ""),
      left("metadata", "")
    )
    val files = paths.map(plant(it, _)) :+ it.folder.resolve(real)
    val young = vacuum(it, paths :+ real, ageMs = Hour)("unreferenced").arr
    assert(young.forall(!_("old").bool) && young.take(5).forall(_("bytes").num == 10))
    assert(files.forall(Files.exists(_)))
    vacuum(it, paths :+ real, ageMs = 0)
    assert(files.forall(Files.exists(_)), "its writer may be about to rename it")
    val earlier = FileTime.from(Instant.now.minusSeconds(900))
    files.foreach(Files.setLastModifiedTime(_, earlier))
    vacuum(it, paths :+ real, ageMs = 0)
    assert(files.forall(!Files.exists(_)))
    val inFolder = it.folder.resolve("state/0/2").toFile.list
    assert(!inFolder.exists(_.contains("3.delta")), "nor is its checksum left")
    for (path <- Seq("state/0/0/.1.delta.crc", "state/0/0/.hidden.tmp", "offsets/.0.crc"))
      withClue(path)(intercept[Invalid](vacuum(it, Seq(path), ageMs = 0)))
    it.run(1)
    it.check()
  }

  for (format <- Seq(1, 2))
    test(s"format v$format: what a committed batch has is refused, and what is elsewhere") {
      val it = new Scenario(spark, Scenario.aggregation, format)
      it.run(2)
      val planted = plant(it, "state/9/0/7.delta")
      val own = it.state.files(0, 0, "default").head
      for (
        path <- Seq(s"state/0/0/$own", "state/0/0", "state/0", "commits/1", "state/../commits/1")
      ) {
        withClue(path) {
          val error = intercept[Invalid](vacuum(it, Seq("state/9", path), ageMs = 0))
          assert(error.condition == "KEYFOLD_VACUUM_IN_USE")
        }
      }
      assert(Files.exists(planted))
      it.run(1)
      it.check()
    }

  for (format <- Seq(1, 2))
    test(s"format v$format: what an interrupted rollback has not set aside yet stays") {
      val it = new Scenario(spark, Scenario.aggregation, format)
      it.run(3)
      val path = it.folder.toString
      val last = new CheckpointLogs(it.session, path).lastCommitted.get
      val aside =
        ujson.read(AdminApi.rollback(it.session, path, last - 1, null, false))("aside").str
      // As if it had ended between the logs and the state.
      val moved = it.folder.resolve(s"keyfold/$aside")
      val state = filesBelow(moved).filter(_.startsWith("state/")).toSeq.sorted
      assert(state.length >= 8)
      state.foreach(file => Files.move(moved.resolve(file), it.folder.resolve(file)))
      val error = intercept[Invalid](vacuum(it, state, ageMs = 0))
      assert(error.condition == "KEYFOLD_VACUUM_IN_USE" && error.getMessage.contains(aside))
      AdminApi.undoRollback(it.session, path, aside)
      it.run(1)
      it.check()
    }

  test("what a rescale has left is not touched before it is settled") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.rescale(3)
    it.run(1)
    val left = "state/0/7"
    assert(it.state.files(0, 7, "default").nonEmpty && it.state.plans.nonEmpty)
    intercept[Invalid](vacuum(it, Seq(left), ageMs = 0))
    // The manifest names the files, too.
    it.state.plans.foreach(name => Files.delete(it.folder.resolve("keyfold").resolve(name)))
    intercept[Invalid](vacuum(it, Seq(left), ageMs = 0))
    assert(it.state.files(0, 7, "default").nonEmpty)
  }
}
