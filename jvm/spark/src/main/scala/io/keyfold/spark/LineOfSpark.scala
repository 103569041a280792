package io.keyfold.spark

import io.keyfold.errors.Invalid
import io.keyfold.spark.conf.BuildInfo
import org.apache.spark.SPARK_VERSION

/** Whether this jar is made for the Spark that runs. On another line some of Spark's classes and
  * methods are missing, and its errors would only say which.
  */
private object LineOfSpark {
  def isMadeFor(version: String): Boolean = version.startsWith(s"${BuildInfo.line}.")

  /** What to tell the user if it is not. */
  def mismatch: Option[String] = Option.unless(isMadeFor(SPARK_VERSION)) {
    val line = SPARK_VERSION.split('.').take(2).mkString(".")
    s"This Keyfold jar is made for Spark ${BuildInfo.line}, but this is Spark $SPARK_VERSION. " +
      s"Start Spark with keyfold-spark_${line}_2.13.jar instead; " +
      s"""keyfold.jar_path("$line") in Python says where it is, if there is one."""
  }
}

/** To be extended before any trait of Spark's, whose own initializers may fail on another line.
  *
  * @throws io.keyfold.errors.Invalid
  *   on another line
  */
private[spark] abstract class LineOfSpark {
  LineOfSpark.mismatch.foreach(said => throw new Invalid("KEYFOLD_SPARK_VERSION", said))
}
