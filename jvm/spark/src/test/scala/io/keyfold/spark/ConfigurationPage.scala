package io.keyfold.spark

import java.nio.file.{Files, Path}

import io.keyfold.spark.conf.KeyfoldConf

/** `docs/configuration.md`, generated from the registry of settings: `make docs`. */
object ConfigurationPage {
  val path: Path = Path.of("docs", "configuration.md")

  def text: String = {
    val rows = KeyfoldConf.all.map(e => s"| `${e.key}` | ${e.default} | ${e.doc} |")
    s"""# Settings
       |
       |Generated from `KeyfoldConf` by `make docs`; do not edit. Settings go into the Spark session's
       |configuration before the query starts. A setting below Keyfold's prefix that is not listed
       |here is refused. Which of Spark's own settings Keyfold honours:
       |[Spark's settings with Keyfold](settings-of-spark.md). What to set for how much state:
       |[Sizing](cluster.md#sizing).
       |
       || setting | default | meaning |
       ||---|---|---|
       |${rows.mkString("\n|")}
       |""".stripMargin
  }

  def main(args: Array[String]): Unit = {
    Files.writeString(path, text)
    ()
  }
}
