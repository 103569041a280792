/** One supported Spark line: the versions it builds against and the source folders that hold what
  * differs between lines (`jvm/spark/src/main/scala-spark-<name>`).
  *
  * @param name
  *   major.minor, as users write it
  * @param spark
  *   the Spark release that is compiled and tested against
  * @param scala
  *   the Scala release of that Spark
  * @param shims
  *   version-named source folders under `jvm/spark/src/main` taken besides `scala`
  */
final case class SparkLine(name: String, spark: String, scala: String, shims: Seq[String])

object SparkLine {
  private val all = Seq(
    SparkLine("4.2", "4.2.0", "2.13.18", Seq("scala-spark-4.2"))
  )

  /** The line chosen by `-DsparkLine=4.2`; the newest one if nothing is said. */
  def selected: SparkLine = {
    val wanted = sys.props.getOrElse("sparkLine", all.last.name)
    all
      .find(_.name == wanted)
      .getOrElse(
        sys.error(s"Unknown sparkLine $wanted, expected one of ${all.map(_.name).mkString(", ")}")
      )
  }
}
