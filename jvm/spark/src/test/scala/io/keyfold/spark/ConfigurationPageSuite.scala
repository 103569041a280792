package io.keyfold.spark

import java.nio.file.{Files, Path}

import io.keyfold.spark.conf.BuildInfo
import org.apache.spark.sql.keyfold.{SparkPrivate, SparkSettings}
import org.scalatest.funsuite.AnyFunSuite

class ConfigurationPageSuite extends AnyFunSuite {
  private def page = Files.readString(Path.of("docs", "configuration.md"))

  test("docs/configuration.md says what the registry says; if not, run make docs") {
    val text = LaterFeatures.configurationPage
      .getOrElse(cancel("The page is written on the newest line of Spark"))
    assert(page == text)
  }

  test("the page says since when Spark has a setting that not all of its lines have") {
    val honoured = page.substring(page.indexOf("## Spark's settings"))
    val rows = """\| `(spark\.\S+)` \| (.*) \|""".r.findAllMatchIn(honoured).toSeq
    assert(rows.nonEmpty)
    // Spark never makes an entry of that setting.
    for (row <- rows if row.group(1) != SparkPrivate.FileManagerKey) {
      val since = """since Spark (\d\.\d)""".r.findFirstMatchIn(row.group(2)).map(_.group(1))
      assert(SparkSettings.has(row.group(1)) == since.forall(_ <= BuildInfo.line), row.group(1))
    }
  }
}
