package io.keyfold.spark

import java.nio.file.Files

import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

/** What this line cannot run under checkpoint format 2. */
class RefuseOneTaskSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val formatKey = "spark.sql.streaming.stateStore.checkpointFormatVersion"
  private val shapes = Seq[(String, String, DataFrame => DataFrame)](
    ("an aggregation without keys", "complete", _.groupBy().count()),
    ("a limit", "append", _.limit(3))
  )

  /** Counts rows that come out of three. */
  private def rows(session: SparkSession, mode: String, of: DataFrame => DataFrame, to: String) = {
    import session.implicits._
    val input = MemoryStream[Int](session)
    var found = 0L
    val query = of(input.toDF()).writeStream
      .outputMode(mode)
      .option("checkpointLocation", to)
      .foreachBatch { (batch: DataFrame, _: Long) => found += batch.count() }
      .start()
    try {
      input.addData(1, 2, 3)
      query.processAllAvailable()
    } finally query.stop()
    found
  }

  for ((name, mode, of) <- shapes) {
    test(s"$name under format 2 is refused, saying what to set; then it goes on") {
      val session = spark.newSession()
      val folder = Files.createTempDirectory("keyfold-one-task").toString
      session.conf.set(formatKey, "2")
      val error = intercept[StreamingQueryException](rows(session, mode, of, folder))
      assert(error.getMessage.contains("KEYFOLD_CHECKPOINT_FORMAT"))
      assert(error.getMessage.contains(s"Set $formatKey=1 "))
      session.conf.set(formatKey, "1")
      assert(rows(session, mode, of, folder) > 0)
    }

    test(s"$name of one partition runs under format 2") {
      val session = spark.newSession()
      session.conf.set(formatKey, "2")
      session.conf.set("spark.sql.shuffle.partitions", "1")
      val folder = Files.createTempDirectory("keyfold-one-task").toString
      assert(rows(session, mode, of, folder) > 0)
    }
  }
}
