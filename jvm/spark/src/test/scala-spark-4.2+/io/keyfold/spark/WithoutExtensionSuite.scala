package io.keyfold.spark

import java.nio.file.Files

import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

class WithoutExtensionSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import EventCounts._

  test("transformWithState without the extension fails and says what to set") {
    val counts = new EventCounts(spark, Files.createTempDirectory("keyfold-tws"))
    val error = intercept[StreamingQueryException](counts.run(Seq(event("a", 1))))
    assert(error.getMessage.contains("KEYFOLD_EXTENSION_MISSING"))
    assert(error.getMessage.contains("spark.sql.extensions=io.keyfold.spark.KeyfoldExtensions"))
  }
}
