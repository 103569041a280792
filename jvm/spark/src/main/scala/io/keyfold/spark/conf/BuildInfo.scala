package io.keyfold.spark.conf

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

/** Facts of the build, which packages them with the classes. Needs nothing of Spark: whatever the
  * jar is made for, it can be asked on every line. (Python asks.)
  */
object BuildInfo {

  /** As the repository's VERSION file has it. */
  val version: String = read("VERSION")

  /** Major and minor version of the Spark that this jar is made for. */
  val line: String = read("SPARK_LINE")

  private def read(name: String) = {
    val in = getClass.getResourceAsStream(s"/io/keyfold/$name")
    Using.resource(in)(it => new String(it.readAllBytes(), UTF_8)).trim
  }
}
