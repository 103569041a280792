package io.keyfold.spark

import java.net.{URL, URLClassLoader}
import java.nio.file.Files
import java.util.jar.{JarEntry, JarOutputStream}

import scala.collection.mutable
import scala.util.Using

import io.keyfold.spark.conf.BuildInfo
import io.keyfold.spark.admin.rescale.Scenario
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.keyfold.{LineFacts, SparkPrivate, StateStores}
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.funsuite.AnyFunSuite

/** The extension sees every query of a session, and leaves alone what is none of its business. */
class KeyfoldExtensionsSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import EventCounts._
  import KeyfoldExtensionsSuite._

  override protected def settings: Map[String, String] =
    Map("spark.sql.extensions" -> classOf[KeyfoldExtensions].getName)

  private val providerKey = "spark.sql.streaming.stateStore.providerClass"
  private val hdfs =
    "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

  private def sessionOf(provider: String) = {
    val other = spark.newSession()
    other.conf.set(providerKey, provider)
    other
  }

  test("a query without state runs when the session's provider is not there") {
    val query = sessionOf("com.example.NotOnTheDriver").range(3).selectExpr("id + 1")
    assert(query.collect().map(_.getLong(0)).toSet == Set(1L, 2L, 3L))
  }

  test("transformWithState is admitted for Keyfold's provider and those made from it, no other") {
    def counts(provider: String) =
      new EventCounts(sessionOf(provider), Files.createTempDirectory("keyfold-tws"))
        .run(Seq(event("a", 1)))
    for (own <- Seq(classOf[KeyfoldStateStoreProvider], classOf[Derived]))
      assert(counts(own.getName) == Seq("a 1 1 1"))
    val error = intercept[StreamingQueryException](counts(hdfs))
    assert(error.getMessage.contains("HDFSBackedStateStoreProvider"))
  }

  private def runUnderFormats1And2(provider: String) = {
    val it = new Scenario(spark, Scenario.aggregation, format = 1, Map(providerKey -> provider))
    it.run(1)
    it.session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    it.run(1)
    it
  }

  test("a checkpoint that HDFSBacked has under format 1 is refused under format 2, or keeps it") {
    if (LineFacts.keepsFormat) runUnderFormats1And2(hdfs).check()
    else {
      val error = intercept[Exception](runUnderFormats1And2(hdfs))
      assert(error.getMessage.contains("KEYFOLD_OTHER_PROVIDER"))
    }
  }

  test("a checkpoint of a provider that the extension does not know is not refused") {
    assume(LaterFeatures.newCheckpointFormat, "Checkpoints keep their format before Spark 4.2")
    runUnderFormats1And2(classOf[Derived].getName).check()
  }

  test("the number of partitions that foreachBatch sets for itself is not that of the state") {
    val session = sessionOf(classOf[KeyfoldStateStoreProvider].getName)
    import session.implicits._
    val partitions = "spark.sql.shuffle.partitions"
    session.conf.set(partitions, "3")
    val input = MemoryStream[Int](session)
    val counted = mutable.Map.empty[Int, Long]
    val query = input
      .toDF()
      .groupBy("value")
      .count()
      .writeStream
      .outputMode("update")
      .option("checkpointLocation", Files.createTempDirectory("keyfold-partitions").toString)
      .foreachBatch { (batch: DataFrame, _: Long) =>
        counted ++= batch.as[(Int, Long)].collect()
        batch.sparkSession.conf.set(partitions, "5")
        // Only a store that is opened now learns the number now.
        StateStores.stop()
      }
      .start()
    try
      for (_ <- 1 to 3) {
        input.addData(1 to 20)
        query.processAllAvailable()
      }
    finally query.stop()
    assert(counted == (1 to 20).map(_ -> 3L).toMap)
  }

  test("the jar that goes to executors is found where its location is no URI, too") {
    val name = classOf[Derived].getName
    val file = s"${name.replace('.', '/')}.class"
    val folder =
      Files.createDirectory(Files.createTempDirectory("keyfold-jar").resolve("two words"))
    val jar = folder.resolve("own.jar")
    Using.resource(new JarOutputStream(Files.newOutputStream(jar))) { out =>
      out.putNextEntry(new JarEntry(file))
      out.write(getClass.getClassLoader.getResourceAsStream(file).readAllBytes())
    }
    def jarOf(url: URL) = Using.resource(new ChildFirst(url, name)) { loader =>
      SparkPrivate.jarOf(loader.loadClass(name))
    }
    for (location <- Seq(jar.toUri.toURL, new URL(s"file:$jar")))
      assert(jarOf(location).contains(jar))
  }

  test("Spark of another line gets no rules") {
    val line = BuildInfo.line
    for (own <- Seq(s"$line.0", s"$line.1-vendor-3")) assert(LineOfSpark.isMadeFor(own))
    val lines = Seq("4.0.2", "4.1.3", "4.2.0", "4.3.0").filterNot(_.startsWith(s"$line."))
    for (other <- lines ++ Seq(s"${line}0.0", "4"))
      assert(!LineOfSpark.isMadeFor(other))
  }
}

object KeyfoldExtensionsSuite {
  final class Derived extends KeyfoldStateStoreProvider

  /** Takes one class from a place, though others have it. */
  private final class ChildFirst(url: URL, own: String)
      extends URLClassLoader(Array(url), getClass.getClassLoader) {
    override def loadClass(name: String, resolve: Boolean): Class[_] =
      if (name == own) findClass(name) else super.loadClass(name, resolve)
  }
}
