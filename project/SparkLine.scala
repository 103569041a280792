import sbt._

/** One supported Spark line: the versions it builds against and the source folders that hold what
  * differs between lines (`jvm/spark/src/main/scala-spark-*`).
  *
  * @param name
  *   major.minor, as users write it
  * @param spark
  *   the Spark release that is compiled and tested against
  * @param isPublished
  *   whether that release has artifacts of its own; otherwise its jars are taken from PySpark's
  *   package
  * @param sparkTests
  *   the release whose published tests run on it: the same, or the newest before it that has any
  * @param scala
  *   the Scala release of that Spark
  * @param shipped
  *   libraries that it ships itself and that Keyfold uses too
  * @param parquet
  *   the Parquet release of that Spark, whose tests Spark's own need
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
    isPublished: Boolean,
    sparkTests: String,
    scala: String,
    shipped: Seq[ModuleID],
    parquet: String,
    hadoop: String,
    awsSdk: String,
    s3Accelerator: Option[String],
    shims: Seq[String]
) {

  /** Spark itself, if it has artifacts. */
  def sql: Option[ModuleID] =
    if (isPublished) Some("org.apache.spark" % "spark-sql_2.13" % spark) else None
}

object SparkLine {
  private val all = Seq(
    SparkLine(
      name = "4.0",
      spark = "4.0.2",
      isPublished = true,
      sparkTests = "4.0.2",
      scala = "2.13.16",
      shipped = Seq(
        "com.github.luben" % "zstd-jni" % "1.5.6-9",
        "org.lz4" % "lz4-java" % "1.8.0",
        "org.slf4j" % "slf4j-api" % "2.0.16"
      ),
      parquet = "1.15.2",
      hadoop = "3.4.1",
      awsSdk = "2.25.53",
      s3Accelerator = None,
      shims = Seq("scala-spark-4.0", "scala-spark-4.0-4.1", "scala-spark-4.0-4.2")
    ),
    SparkLine(
      name = "4.1",
      spark = "4.1.3",
      isPublished = true,
      sparkTests = "4.1.3",
      scala = "2.13.17",
      shipped = Seq(
        "com.github.luben" % "zstd-jni" % "1.5.7-6",
        "org.lz4" % "lz4-java" % "1.8.0",
        "org.slf4j" % "slf4j-api" % "2.0.17"
      ),
      parquet = "1.16.0",
      hadoop = "3.4.2",
      awsSdk = "2.29.52",
      s3Accelerator = Some("1.3.0"),
      shims = Seq(
        "scala-spark-4.0-4.1",
        "scala-spark-4.0-4.2",
        "scala-spark-4.1",
        "scala-spark-4.1+"
      )
    ),
    SparkLine(
      name = "4.2",
      spark = "4.2.0",
      isPublished = true,
      sparkTests = "4.2.0",
      scala = "2.13.18",
      shipped = Seq(
        "com.github.luben" % "zstd-jni" % "1.5.7-7",
        "at.yawk.lz4" % "lz4-java" % "1.11.0",
        "org.slf4j" % "slf4j-api" % "2.0.17"
      ),
      parquet = "1.17.0",
      hadoop = "3.5.0",
      awsSdk = "2.35.4",
      s3Accelerator = Some("1.3.1"),
      shims = Seq("scala-spark-4.0-4.2", "scala-spark-4.1+", "scala-spark-4.2", "scala-spark-4.2+")
    ),
    SparkLine(
      name = "4.3",
      spark = "4.3.0",
      isPublished = false,
      sparkTests = "4.2.0",
      scala = "2.13.18",
      shipped = Seq(
        "com.github.luben" % "zstd-jni" % "1.5.7-7",
        "at.yawk.lz4" % "lz4-java" % "1.11.0",
        "org.slf4j" % "slf4j-api" % "2.0.17"
      ),
      parquet = "1.17.0",
      hadoop = "3.5.0",
      awsSdk = "2.35.4",
      s3Accelerator = Some("1.3.1"),
      shims = Seq("scala-spark-4.1+", "scala-spark-4.2+", "scala-spark-4.3")
    )
  )

  /** The newest line whose own tests are published. */
  val default: SparkLine = all.filter(_.isPublished).last

  val oldest: SparkLine = all.head

  /** The line chosen by `-DsparkLine=4.0`, or the default. */
  def selected: SparkLine = {
    val wanted = sys.props.getOrElse("sparkLine", default.name)
    all
      .find(_.name == wanted)
      .getOrElse(
        sys.error(s"Unknown sparkLine $wanted, expected one of ${all.map(_.name).mkString(", ")}")
      )
  }
}
