package io.keyfold.spark

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

class ConfigurationPageSuite extends AnyFunSuite {
  test("docs/configuration.md says what the registry says; if not, run make docs") {
    assert(Files.readString(ConfigurationPage.path) == ConfigurationPage.text)
  }
}
