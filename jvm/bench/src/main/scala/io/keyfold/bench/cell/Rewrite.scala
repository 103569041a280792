package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure, Provider}
import io.keyfold.spark.admin.AdminApi
import org.apache.spark.sql.functions.{col, lit, struct}
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.SparkRepartition

/** Each row of the state of a stopped counting query of 16 partitions is written anew: by Keyfold
  * with another value, read by Spark's `statestore` source or not, and for RocksDB by Spark's own
  * repartition to 32, which is Spark's only way to rewrite state. Each round does it to a copy of
  * the same checkpoint.
  */
final class Rewrite(job: Job) extends Work {
  import Rewrite._

  private lazy val spark = {
    val session = CountQuery.session(job.provider, Partitions)
    // A write needs it; the others run with their default.
    if (job.provider == Provider.Keyfold)
      session.conf.set(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key, 2L)
    session
  }
  private lazy val count = new StoppedCount(spark, job.rows)

  /** Loads classes and code with another state. */
  override def prepare(): Unit = {
    measure(new StoppedCount(spark, math.min(job.rows, WarmUpRows)))
    count.checkpoint()
    ()
  }

  override def round(number: Int): Seq[Figure] = measure(count)

  override def warmUpSeconds(effort: Effort): Double = 0
  override def close(): Unit = spark.stop()

  private def measure(count: StoppedCount): Seq[Figure] = job.provider match {
    case Provider.Keyfold =>
      val read = timed("rewrite", count) { checkpoint =>
        val rows = spark.read.format("statestore").load(checkpoint)
        write(checkpoint, rows.select(col("key"), valueOf(col("value.count") + 1)))
      }
      val made = timed("write", count) { checkpoint =>
        val key = struct(col("id").as("key")).as("key")
        write(checkpoint, spark.range(count.keys).select(key, valueOf(lit(7L))))
      }
      Seq(read, made)
    case _: Provider.RocksDb =>
      val all = timed("rewrite", count)(SparkRepartition.run(spark, _, 2 * Partitions))
      Seq(all, all.copy(name = "write"))
    case _ => throw new Unsupported(Rescale.OnlyRocksDb)
  }

  private def valueOf(count: Column) = struct(count.as("count")).as("value")

  private def write(checkpoint: String, rows: DataFrame) =
    AdminApi.write(spark, checkpoint, 0, "default", rows, null, replaces = true, dryRun = false)

  private def timed(name: String, count: StoppedCount)(change: String => Any): Figure = {
    val checkpoint = count.checkpoint()
    // It ends between two batches.
    count.oneBatch(checkpoint).stop()
    val start = System.nanoTime
    change(checkpoint.toString)
    val done = System.nanoTime
    val after = count.oneBatch(checkpoint)
    after.stop()
    count.requireKeys(after)
    Figure(name, "ms", (done - start) / 1e6)
  }
}

private object Rewrite {
  private val Partitions = 16
  private val WarmUpRows = 100000
}
