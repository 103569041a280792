package io.keyfold.spark.start

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.spark.{
  KeyfoldExtensions,
  KeyfoldStateStoreProvider,
  LaterFeatures,
  LocalSpark,
  QuietLogs
}
import io.keyfold.spark.admin.rescale.Scenario
import io.keyfold.testkit.Failure
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.LineFacts
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

/** What a line of Spark cannot do with a checkpoint is said before the query has changed it. */
class RefuseAtStartSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val formatKey = "spark.sql.streaming.stateStore.checkpointFormatVersion"

  for ((from, to) <- Seq(1 -> 2, 2 -> 1))
    test(s"a checkpoint of format $from under the setting $to goes on, or the error says how") {
      val it = new Scenario(spark, Scenario.aggregation, from)
      it.run(2)
      it.session.conf.set(formatKey, to.toString)
      if (LineFacts.keepsFormat || to == 2 && LaterFeatures.newCheckpointFormat) it.run(2)
      else {
        val before = files(it)
        val error = intercept[IllegalArgumentException](it.run(1, addAgain = false))
        assert(error.getMessage.startsWith("[KEYFOLD_CHECKPOINT_FORMAT]"))
        assert(error.getMessage.contains(s"set $formatKey=$from "))
        assert(files(it) == before)
        it.session.conf.set(formatKey, from.toString)
        it.run(2)
      }
      it.check()
    }

  private def files(it: Scenario): Set[Path] =
    Using.resource(Files.walk(it.folder))(_.iterator.asScala.toSet)

  test("a query without state goes on under any format, whatever provider its checkpoint names") {
    assume(LaterFeatures.newCheckpointFormat, "Checkpoints keep their format before Spark 4.2")
    val hdfs = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    for (provider <- Seq(hdfs, classOf[KeyfoldStateStoreProvider].getName)) {
      val session = spark.newSession()
      import session.implicits._
      session.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
      val input = MemoryStream[Int](session)
      val checkpoint = Files.createTempDirectory("keyfold-stateless").toString
      for ((format, i) <- Seq("1", "2", "1").zipWithIndex) {
        session.conf.set(formatKey, format)
        val query = input
          .toDF()
          .writeStream
          .option("checkpointLocation", checkpoint)
          .foreachBatch((_: DataFrame, _: Long) => ())
          .start()
        try {
          input.addData(i)
          query.processAllAvailable()
        } finally query.stop()
      }
    }
  }

  test(
    "a setting of Keyfold's with an invalid value, or of an unknown name, is refused at the start"
  ) {
    for (
      (name, value) <- Seq("memory.maxBytes" -> "much", "files.forced" -> "maybe", "noSuch" -> "1")
    ) {
      val key = s"spark.sql.streaming.stateStore.keyfold.$name"
      val it = new Scenario(spark, Scenario.aggregation, format = 2, Map(key -> value))
      val error = intercept[IllegalArgumentException](it.run(1))
      assert(error.getMessage.contains(key))
      it.session.conf.unset(key)
      it.run(1, addAgain = false)
      it.check()
    }
  }

  test("settings of Keyfold's do not stop a query without state") {
    val session = spark.newSession()
    import session.implicits._
    session.conf.set("spark.sql.streaming.stateStore.keyfold.noSuch", "1")
    val input = MemoryStream[Int](session)
    input.addData(1, 2)
    val query = input.toDF().writeStream.format("noop").start()
    try query.processAllAvailable()
    finally query.stop()
  }

  test("a provider whose class is missing is refused, and the checkpoint keeps no trace of it") {
    val key = "spark.sql.streaming.stateStore.providerClass"
    val it = new Scenario(spark, Scenario.aggregation, 2, Map(key -> "io.keyfold.Provder"))
    val error = intercept[IllegalArgumentException](it.run(1))
    assert(error.getMessage.startsWith("[KEYFOLD_PROVIDER_MISSING]"))
    assert(error.getMessage.contains("io.keyfold.Provder"))
    it.session.conf.set(key, classOf[KeyfoldStateStoreProvider].getName)
    it.run(1, addAgain = false)
    it.check()
  }

  test("a rescale that was not finished is named, and once it is, the query goes on") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(2)
    it.faults.plan.fail(Failure.Before) { call =>
      call.what == "rename" && call.path.startsWith("commits/")
    }
    intercept[Exception](it.rescale(12))
    it.faults.plan.clear()
    val error = intercept[IllegalArgumentException](it.run(1))
    assert(error.getMessage.startsWith("[KEYFOLD_RESCALE_UNFINISHED]"))
    assert(error.getMessage.contains("from 8 to 12 partitions"))
    it.rescale(12)
    it.run(1, addAgain = false)
    it.check()
  }

  test("a batch that failed is no rescale: the query starts, and computes it again") {
    val it = new Scenario(spark, Scenario.aggregation, format = 2)
    it.run(1)
    it.faults.plan.fail(Failure.Before) { call =>
      call.what == "rename" && call.path.startsWith("commits/")
    }
    intercept[StreamingQueryException](it.run(1))
    it.faults.plan.clear()
    it.run(1, addAgain = false)
    it.check()
  }
}
