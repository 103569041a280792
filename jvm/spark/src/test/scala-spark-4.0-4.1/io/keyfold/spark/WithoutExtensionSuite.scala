package io.keyfold.spark

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

class WithoutExtensionSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import EventCounts._

  test("transformWithState needs no extension here") {
    val counts = new EventCounts(spark, Files.createTempDirectory("keyfold-tws"))
    assert(counts.run(Seq(event("a", 1))) == Seq("a 1 1 1"))
  }
}
