import sbt._

/** One supported Spark line: the versions it builds against and the source folders that hold what
  * differs between lines (`jvm/spark/src/main/scala-spark-*`).
  *
  * @param name
  *   major.minor, as users write it
  * @param spark
  *   the Spark release that is compiled and tested against
  * @param scala
  *   the Scala release of that Spark
  * @param shipped
  *   libraries that it ships itself and that Keyfold uses too
  * @param hadoop
  *   the Hadoop release of that Spark
  * @param awsSdk
  *   the release of Amazon's SDK for that Hadoop
  * @param s3Accelerator
  *   the release of the library that its client for S3 needs, if it does
  * @param shims
  *   version-named source folders under `jvm/spark/src/main` and `jvm/spark/src/test` taken besides
  *   `scala`
  */
final case class SparkLine(
    name: String,
    spark: String,
    scala: String,
    shipped: Seq[ModuleID],
    hadoop: String,
    awsSdk: String,
    s3Accelerator: Option[String],
    shims: Seq[String]
)

object SparkLine {
  private val all = Seq(
    SparkLine(
      name = "4.0",
      spark = "4.0.2",
      scala = "2.13.16",
      shipped = Seq(
        "com.github.luben" % "zstd-jni" % "1.5.6-9",
        "org.lz4" % "lz4-java" % "1.8.0",
        "org.slf4j" % "slf4j-api" % "2.0.16"
      ),
      hadoop = "3.4.1",
      awsSdk = "2.25.53",
      s3Accelerator = None,
      shims = Seq("scala-spark-4.0", "scala-spark-4.0-4.1")
    ),
    SparkLine(
      name = "4.1",
      spark = "4.1.3",
      scala = "2.13.17",
      shipped = Seq(
        "com.github.luben" % "zstd-jni" % "1.5.7-6",
        "org.lz4" % "lz4-java" % "1.8.0",
        "org.slf4j" % "slf4j-api" % "2.0.17"
      ),
      hadoop = "3.4.2",
      awsSdk = "2.29.52",
      s3Accelerator = Some("1.3.0"),
      shims = Seq("scala-spark-4.0-4.1", "scala-spark-4.1", "scala-spark-4.1+")
    ),
    SparkLine(
      name = "4.2",
      spark = "4.2.0",
      scala = "2.13.18",
      shipped = Seq(
        "com.github.luben" % "zstd-jni" % "1.5.7-7",
        "at.yawk.lz4" % "lz4-java" % "1.11.0",
        "org.slf4j" % "slf4j-api" % "2.0.17"
      ),
      hadoop = "3.5.0",
      awsSdk = "2.35.4",
      s3Accelerator = Some("1.3.1"),
      shims = Seq("scala-spark-4.1+", "scala-spark-4.2")
    )
  )

  val newest: String = all.last.name

  /** The line chosen by `-DsparkLine=4.2`; the newest one if nothing is said. */
  def selected: SparkLine = {
    val wanted = sys.props.getOrElse("sparkLine", newest)
    all
      .find(_.name == wanted)
      .getOrElse(
        sys.error(s"Unknown sparkLine $wanted, expected one of ${all.map(_.name).mkString(", ")}")
      )
  }
}
