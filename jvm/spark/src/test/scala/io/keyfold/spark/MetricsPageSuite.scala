package io.keyfold.spark

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

class MetricsPageSuite extends AnyFunSuite {
  test("docs/metrics.md has the tables of all metrics; if not, run make docs") {
    assert(Files.readString(MetricsPage.path) == MetricsPage.text)
  }
}
