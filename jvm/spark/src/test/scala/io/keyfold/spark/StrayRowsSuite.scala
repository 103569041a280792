package io.keyfold.spark

import java.nio.file.{Files, Path}

import scala.collection.mutable

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.admin.AdminApi
import org.apache.spark.sql.functions._
import org.apache.spark.sql.keyfold.{LineFacts, StateStores}
import org.apache.spark.sql.keyfold.TestNames.MemoryStream
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.{DataFrame, Dataset, Encoder, Encoders, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

/** Queries whose stored keys do not hash to the partitions that Spark gives their rows to: they run
  * as with Spark's own providers. They are rescaled if the columns by which Spark partitions can be
  * computed from the stored keys.
  */
class StrayRowsSuite extends AnyFunSuite with QuietLogs with LocalSpark {
  import StrayRowsSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> classOf[KeyfoldExtensions].getName,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot" -> "2",
    // With a time to live there would be no end to them.
    "spark.sql.streaming.noDataMicroBatches.enabled" -> "false"
  )

  /** A query over the numbers 0 to 49, twice in each batch, that counts each. */
  private final class Run(
      var query: Query,
      partitions: Int,
      provider: String = classOf[KeyfoldStateStoreProvider].getName,
      more: Map[String, String] = Map.empty
  ) {
    val folder: Path = Files.createTempDirectory("keyfold-strays")
    val session: SparkSession = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", partitions.toString)
    session.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
    more.foreach { case (key, value) => session.conf.set(key, value) }
    private val input = MemoryStream[Long](session)(Encoders.scalaLong)

    /** Called with each batch. */
    var see: DataFrame => Unit = _ => ()

    /** The counts of each batch, ascending. */
    def counts(batches: Int): Seq[Seq[Long]] = {
      val found = mutable.Buffer.empty[Seq[Long]]
      val running = query(session, input.toDF().toDF("v"))
        .toDF("count")
        .writeStream
        .outputMode("update")
        .option("checkpointLocation", folder.toString)
        .foreachBatch { (batch: Dataset[Row], _: Long) =>
          found += batch.collect().map(_.getLong(0)).sorted.toSeq
          see(batch)
        }
        .start()
      try
        for (_ <- 1 to batches) {
          input.addData((0L until 50L) ++ (0L until 50L))
          running.processAllAvailable()
        }
      finally running.stop()
      found.toSeq
    }

    def rescale(to: Int): Unit = {
      AdminApi.rescale(session, folder.toString, to, dryRun = false)
      ()
    }

    /** The query does not find its rows after a migration, says so, and goes on as before. */
    def requireUndo(): Unit = {
      val error = intercept[StreamingQueryException](counts(1))
      assert(error.getMessage.contains("KEYFOLD_MIGRATE_KEYS"), error.getMessage)
      AdminApi.undoMigration(session, folder.toString, dryRun = false)
      session.conf.set("spark.sql.streaming.stateStore.providerClass", Providers("RocksDB"))
      // The batch that was begun is gone, and the next one has its input too.
      assert(counts(1) == expected(3 to 3))
      ()
    }

    /** A rescale from 1 partition to 4 and back, with a batch between them that is refused. */
    def requireSeparated(): Unit = {
      rescale(4)
      val error = intercept[StreamingQueryException](counts(1))
      assert(error.getMessage.contains("KEYFOLD_ROW_MISPLACED"))
      rescale(1)
    }

    def requireNoRescale(): Unit = {
      val error = intercept[RescaleRefused](rescale(8))
      assert(error.condition == "KEYFOLD_RESCALE_PLACEMENT")
      ()
    }
  }

  /** Each of the 50 keys, twice a batch. */
  private def expected(batches: Range) = batches.map(batch => Seq.fill(50)(2L * batch))

  for ((name, query) <- ofTransformWithState; provider <- Seq("Keyfold", "RocksDB"))
    test(s"transformWithState, $name, on $provider") {
      val run = new Run(query, 4, Providers(provider))
      assert(run.counts(2) == expected(1 to 2))
      StateStores.stop()
      assert(run.counts(2) == expected(3 to 4))
      if (provider == "Keyfold") {
        if (computed.contains(name)) run.rescale(6) else run.requireNoRescale()
        assert(run.counts(1) == expected(5 to 5))
      }
    }

  for ((name, query) <- computed; partitions <- Seq(1, 3))
    test(s"transformWithState, $name, is rescaled: $partitions -> 5 -> 4 partitions") {
      val run = new Run(query, partitions)
      assert(run.counts(2) == expected(1 to 2))
      for ((to, batch) <- Seq(5, 4).zip(Seq(3, 4))) {
        run.rescale(to)
        StateStores.stop()
        assert(run.counts(1) == expected(batch to batch))
      }
    }

  test("a migration of RocksDB's state keeps every row") {
    val run = new Run(ofTransformWithState(NotUtf8), 4, Providers("RocksDB"))
    assert(run.counts(2) == expected(1 to 2))
    AdminApi.migrate(run.session, run.folder.toString, dryRun = false)
    assert(run.counts(1) == expected(3 to 3))
    run.requireNoRescale()
  }

  test("a key that cannot be computed: the plan shows it, though one partition does not") {
    val run = new Run(ofTransformWithState(AsString), 1)
    assert(run.counts(2) == expected(1 to 2))
    run.requireNoRescale()
  }

  test("a query whose state cannot be rescaled goes back to an earlier batch") {
    val run = new Run(ofTransformWithState(AsString), 1)
    assert(run.counts(2) == expected(1 to 2))
    run.requireNoRescale()
    AdminApi.rollback(run.session, run.folder.toString, 0, null, dryRun = false)
    // The input of the batch that was dropped comes again: with that of the next one, or before it
    // if the start is faster than the test.
    assert(run.counts(1).last == expected(3 to 3).last)
  }

  test(
    "a key that the plan says nothing of: after 1 -> 4 a row is refused, after 4 -> 1 all is well"
  ) {
    val run = new Run(ofTransformWithState(NotUtf8), 1)
    assert(run.counts(1) == expected(1 to 1))
    run.requireSeparated()
    // The batch that was begun, with its input, and the next one.
    assert(run.counts(1) == expected(2 to 3))
  }

  test("a key that cannot be computed, in RocksDB's state, which is migrated: 1 -> 4 -> 1") {
    val run = new Run(ofTransformWithState(AsString), 1, Providers("RocksDB"))
    assert(run.counts(1) == expected(1 to 1))
    AdminApi.migrate(run.session, run.folder.toString, dryRun = false)
    if (LineFacts.schemasHaveKeys) {
      run.requireSeparated()
      assert(run.counts(1) == expected(2 to 3))
    } else run.requireUndo()
  }

  test("a key that could be computed, in state that was migrated or kept by another order") {
    val migrated = new Run(computed("an INT column as Long"), 1, Providers("RocksDB"))
    assert(migrated.counts(1) == expected(1 to 1))
    AdminApi.migrate(migrated.session, migrated.folder.toString, dryRun = false)
    if (LineFacts.schemasHaveKeys) {
      assert(migrated.counts(1) == expected(2 to 2))
      migrated.requireNoRescale()
    } else migrated.requireUndo()
    val reordered = new Run(inOrder("a", "b"), 1)
    assert(reordered.counts(1) == expected(1 to 1))
    reordered.query = inOrder("b", "a")
    assert(reordered.counts(1) == expected(2 to 2))
    reordered.requireNoRescale()
    assert(reordered.counts(1) == expected(3 to 3))
  }

  test("after a rescale no map is scanned for a key that would be elsewhere") {
    isKept = true
    val run = new Run(scanned, 1)
    assert(run.counts(2) == Seq.fill(50)(0L) :: Seq.fill(50)(1L) :: Nil)
    isKept = false
    run.requireSeparated()
    assert(run.counts(1) == Seq.fill(50)(1L) :: Seq.fill(50)(1L) :: Nil)
  }

  test("a function reads another query's state, which has been rescaled, in its batch's session") {
    // Spark 4.0's source cannot read format 2.
    val format = Map("spark.sql.streaming.stateStore.checkpointFormatVersion" -> "1")
    val other = new Run(asStored("int"), 2, more = format)
    assert(other.counts(1) == expected(1 to 1))
    other.rescale(5)
    val run = new Run(ofTransformWithState(AsString), 3, more = format)
    run.see = { batch =>
      val state = batch.sparkSession.read.format("statestore").option("stateVarName", "n")
      assert(state.load(other.folder.toString).count() == 50)
      ()
    }
    assert(run.counts(2) == expected(1 to 2))
  }

  for (more <- Seq("int", "bigint", "tuple", "tuple, by columns in another order"))
    test(s"transformWithState whose key is the column, $more, is rescaled") {
      val run = new Run(asStored(more), 1)
      assert(run.counts(1) == expected(1 to 1))
      run.rescale(4)
      assert(run.counts(1) == expected(2 to 2))
      run.rescale(3)
      assert(run.counts(1) == expected(3 to 3))
    }

  for (partitions <- Seq(1, 2, 4))
    test(s"a count by a column that has no values: $partitions -> 4, 5 partitions") {
      val run = new Run(ofNothing, partitions)
      assert(run.counts(2) == Seq(Seq(100L), Seq(200L)))
      for ((to, batch) <- Seq(4, 5).filter(_ != partitions).zip(Seq(3, 4))) {
        run.rescale(to)
        assert(run.counts(1) == Seq(Seq(100L * batch)))
      }
    }

  test("an aggregation that is not partitioned by all of its keys") {
    val strict = "spark.sql.streaming.statefulOperator.useStrictDistribution"
    for (provider <- Seq("Keyfold", "RocksDB")) {
      val run = new Run(byMore, 4, Providers(provider), Map(strict -> "false"))
      assert(run.counts(2) == expected(1 to 2))
      assert(run.counts(1) == expected(3 to 3))
      if (provider == "Keyfold") run.requireNoRescale()
    }
  }
}

object StrayRowsSuite {
  type Query = (SparkSession, DataFrame) => Dataset[_]

  private val Providers = Map(
    "Keyfold" -> classOf[KeyfoldStateStoreProvider].getName,
    "RocksDB" -> "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
  )

  final case class NumberAndText(number: Int, text: String)

  private def counted[K: Encoder](columns: String*): Query = { (_, numbers) =>
    val input = numbers.selectExpr(columns :+ "v": _*)
    TypedQueries.counted[K](input, input.columns.init.toSeq: _*)
  }

  private val NotUtf8 = "a string that is no UTF-8"

  private val AsString = "an INT column as String"

  @volatile private var isKept = true

  final case class Pair(a: Int, b: Int)

  private def inOrder(columns: String*): Query = { (_, numbers) =>
    val input = numbers.selectExpr("cast(v as int) a", "cast(-v as int) b", "v")
    TypedQueries.counted[Pair](input, columns: _*)(Encoders.product[Pair])
  }

  private def scanned: Query = { (_, numbers) =>
    val input = numbers.selectExpr("cast(unhex(concat('FF', hex(v + 16))) as string) k", "v")
    TypedQueries.seen[String](() => isKept)(input, "k")(Encoders.STRING)
  }

  /** Of whose stored keys the columns can be computed. */
  private val computed: Map[String, Query] = Map(
    "an INT column as Long" -> counted("cast(v as int) k")(Encoders.scalaLong),
    "a DECIMAL(10,2) column as BigDecimal" ->
      counted("cast(v as decimal(10,2)) k")(Encoders.DECIMAL),
    "a FLOAT column as Double" -> counted("cast(v as float) k")(Encoders.scalaDouble),
    "columns in another order" ->
      counted("string(v) text", "cast(v as int) number")(Encoders.product[NumberAndText]),
    "columns in another order, one as another type" ->
      counted("string(v) text", "cast(v as smallint) number")(Encoders.product[NumberAndText])
  )

  private val ofTransformWithState: Map[String, Query] = computed ++ Map(
    NotUtf8 ->
      counted("cast(unhex(concat('FF', lpad(hex(v), 4, '0'))) as string) k")(Encoders.STRING),
    AsString -> counted("cast(v as int) k")(Encoders.STRING)
  )

  private def asStored(kind: String): Query = kind match {
    case "int"    => counted("cast(v as int) k")(Encoders.scalaInt)
    case "bigint" => counted("v k")(Encoders.scalaLong)
    case "tuple"  => counted("string(v) a", "cast(v as int) b")(Encoders.product[(String, Int)])
    case "tuple, by columns in another order" =>
      counted("cast(v as int) _2", "cast(-v as int) _1")(Encoders.product[(Int, Int)])
  }

  private val ofNothing: Query = (_, numbers) =>
    numbers.withColumn("k", expr("assert_true(v >= 0)")).groupBy("k").count().select("count")

  private val byMore: Query = (_, numbers) =>
    numbers
      .withColumn("more", col("v") % 7)
      .repartition(col("v"))
      .groupBy("v", "more")
      .count()
      .select("count")
}
