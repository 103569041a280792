package io.keyfold.spark.admin

import java.nio.file.Files

import io.keyfold.errors.Invalid
import io.keyfold.spark.{LocalSpark, QuietLogs}
import io.keyfold.spark.admin.rescale.Scenario
import org.scalatest.funsuite.AnyFunSuite

/** Files of Spark's own that cannot be understood. */
class DamagedLogsSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  test("the error names the file that Spark cannot understand, and says what to do") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    val damaged = Seq(
      "metadata" -> "",
      "metadata" -> "{\"id\":\"nonsense\"}",
      "offsets/1" -> "",
      "offsets/1" -> "v1\n{\"batchWater",
      "commits/1" -> "",
      "commits/1" -> "v1\n{",
      "state/0/_metadata/metadata" -> ""
    )
    for ((path, content) <- damaged) withClue(s"$path is '$content': ") {
      val file = it.folder.resolve(path)
      val whole = Files.readAllBytes(file)
      Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      Files.writeString(file, content)
      val error =
        intercept[Invalid](AdminApi.rescale(it.session, it.folder.toString, 3, dryRun = true))
      assert(error.condition == "KEYFOLD_CHECKPOINT_DAMAGED")
      val named = if (path.startsWith("state")) "state/*/_metadata" else path
      assert(error.getMessage.contains(named) && error.getMessage.contains("from a copy"))
      Files.write(file, whole)
    }
    it.run(1)
    it.check()
  }
}
