package io.keyfold.spark.vacuum

import java.nio.file.{Files, Path}
import java.util.UUID

import io.keyfold.errors.Invalid
import io.keyfold.spark.rescale.Scenario
import io.keyfold.spark.{LocalSpark, QuietLogs}
import org.scalatest.funsuite.AnyFunSuite

class VacuumSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  private val Hour = 3600000L

  private def vacuum(it: Scenario, paths: Seq[String], ageMs: Long, dryRun: Boolean = false) =
    ujson.read(
      VacuumApi.vacuum(it.session, it.folder.toString, paths.mkString("\n"), ageMs, dryRun)
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
    val waste = Seq(plant(it, attempt), plant(it, s"$folder/0/1.delta"))
    val planned = vacuum(it, Seq(attempt, folder), ageMs = 0, dryRun = true)
    assert(planned("waste").arr.map(_("bytes").num).toSeq == Seq(10, 10))
    assert(!planned("applied").bool && waste.forall(Files.exists(_)))
    val young = vacuum(it, Seq(attempt, folder), ageMs = Hour)
    assert(young("waste").arr.forall(!_("old").bool) && waste.forall(Files.exists(_)))
    vacuum(it, Seq(attempt, folder), ageMs = 0)
    assert(waste.forall(!Files.exists(_)))
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

  test("what a rescale has left is not touched before it is settled") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.rescale(3)
    it.run(1)
    val left = "state/0/7"
    assert(it.state.files(0, 7, "default").nonEmpty && it.state.plans.nonEmpty)
    intercept[Invalid](vacuum(it, Seq(left), ageMs = 0))
    assert(it.state.files(0, 7, "default").nonEmpty)
  }
}
