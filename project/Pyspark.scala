import sbt._

import scala.sys.process._

/** Spark's jars out of PySpark's package, for a line that has no artifacts of its own. */
object Pyspark {

  /** @param release
    *   release of PySpark, which is installed into `.cache` if it is not there yet
    */
  def jars(release: String, root: File): Seq[File] = {
    val folder = file(Process(Seq("build/pyspark", release), root).!!.trim)
    (folder / "lib" ** "pyspark" / "jars" * "*.jar").get().sortBy(_.getName)
  }
}
