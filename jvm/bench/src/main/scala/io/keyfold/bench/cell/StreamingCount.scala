package io.keyfold.bench.cell

import java.nio.file.Files

import io.keyfold.bench.{Effort, Figure}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, count}
import org.apache.spark.sql.streaming.StreamingQuery

/** A count per key through Spark itself: batches of 200,000 rows, 4 partitions, 2 cores. Once every
  * key has come once, batches hold keys of the state in an order that scatters them; ten of these
  * are measured, each as a whole as Spark reports it.
  */
final class StreamingCount(job: Job) extends Work {
  import StreamingCount._

  private val rowsPerBatch = math.min(RowsPerBatch, job.rows)
  private val filling = (job.rows + rowsPerBatch - 1) / rowsPerBatch
  private val spark = newSession()

  override def prepare(): Unit = ()

  override def round(number: Int): Seq[Figure] = {
    val query = start()
    val last = filling + WarmUp + Measured - 1
    while (query.isActive && newest(query) < last) Thread.sleep(50)
    query.exception.foreach(throw _)
    val batches =
      query.recentProgress.toSeq.filter(p => p.batchId > last - Measured && p.batchId <= last)
    query.stop()
    require(batches.size == Measured, s"${batches.size} batches were reported")
    val keys = batches.head.stateOperators.head.numRowsTotal
    // RocksDB does not know if it does not count.
    require(keys == job.rows || keys <= 0, s"the state had $keys keys")
    Seq(Figure("batch", "ms", batches.map(_.durationMs.get("triggerExecution").toDouble)))
  }

  override def rounds(effort: Effort): Int = 1
  override def warmUpSeconds(effort: Effort): Double = 0
  override def close(): Unit = spark.stop()

  private def newest(query: StreamingQuery): Long =
    Option(query.lastProgress).fold(-1L)(_.batchId)

  private def start(): StreamingQuery = spark.readStream
    .format("rate-micro-batch")
    .option("rowsPerBatch", rowsPerBatch.toLong)
    .option("numPartitions", Partitions.toLong)
    .load()
    // Prime and larger than the number of keys: all keys come once before any comes again.
    .select((col("value") * Factor % job.rows).as("key"))
    .groupBy("key")
    .agg(count("*").as("count"))
    .writeStream
    .format("noop")
    .outputMode("update")
    .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString)
    .start()

  private def newSession(): SparkSession = {
    val settings = job.provider.settings ++ BenchStore.FileSystem.map { case (key, value) =>
      s"spark.hadoop.$key" -> value
    } ++ Map(
      "spark.sql.streaming.stateStore.providerClass" -> job.provider.className,
      "spark.sql.shuffle.partitions" -> Partitions.toString,
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

object StreamingCount {
  private val RowsPerBatch = 200000
  private val Partitions = 4
  private val WarmUp = 3
  private val Measured = 10
  private val Factor = 48271L
}
