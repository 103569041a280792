package io.keyfold.bench.cell

import io.keyfold.bench.Provider
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, count}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** A count per key through Spark itself: batches of 200,000 rows on 2 cores. Once every key has
  * come once, batches hold keys of the state in an order that scatters them.
  *
  * @param keys
  *   how many the state gets
  */
final class CountQuery(session: SparkSession, keys: Int) {
  import CountQuery._

  /** Batches after which every key has come once. */
  val filling: Int = (keys + RowsPerBatch - 1) / RowsPerBatch

  /** Begins it, or goes on with it. */
  def start(checkpoint: String, trigger: Trigger): StreamingQuery = session.readStream
    .format("rate-micro-batch")
    .option("rowsPerBatch", RowsPerBatch.toLong)
    .option("numPartitions", SourcePartitions)
    .load()
    // Prime and larger than the number of keys: all keys come once before any comes again.
    .select((col("value") * Factor % keys).as("key"))
    .groupBy("key")
    .agg(count("*").as("count"))
    .writeStream
    .format("noop")
    .outputMode("update")
    .option("checkpointLocation", checkpoint)
    .trigger(trigger)
    .start()

  /** Returns when the query has reported a batch of that number or later. */
  def await(query: StreamingQuery, batch: Long): Unit = {
    def newest = Option(query.lastProgress).fold(-1L)(_.batchId)
    while (query.isActive && newest < batch) Thread.sleep(PollMs)
    query.exception.foreach(throw _)
  }

  /** @param reported
    *   by Spark; RocksDB does not know if it does not count
    */
  def requireKeys(reported: Long): Unit =
    require(reported == keys || reported <= 0, s"the state had $reported keys")
}

object CountQuery {
  private val RowsPerBatch = 200000
  private val SourcePartitions = 4L
  private val Factor = 48271L
  private val PollMs = 2L

  def session(provider: Provider, partitions: Int): SparkSession = {
    val settings = provider.settings ++ BenchStore.fileSystem(provider).map { case (key, value) =>
      s"spark.hadoop.$key" -> value
    } ++ Map(
      "spark.sql.streaming.stateStore.providerClass" -> provider.className,
      "spark.sql.shuffle.partitions" -> partitions.toString,
      "spark.sql.streaming.numRecentProgressUpdates" -> "1000",
      "spark.ui.showConsoleProgress" -> "false",
      "spark.driver.host" -> "127.0.0.1",
      "spark.driver.bindAddress" -> "127.0.0.1"
    )
    val builder = SparkSession.builder().master("local[2]").appName("keyfold-bench")
    settings.foreach { case (key, value) => builder.config(key, value) }
    builder.getOrCreate()
  }
}
