package io.keyfold.bench.cell

import io.keyfold.bench.{Effort, Figure, Provider}
import io.keyfold.spark.admin.AdminApi
import org.apache.spark.sql.keyfold.SparkRepartition

/** A counting query of 16 partitions is stopped and goes on with 32: by Keyfold's plan and apply,
  * and by Spark's own repartition for RocksDB. Each round does it to a copy of the same checkpoint,
  * after a batch with 16.
  */
final class Rescale(job: Job) extends Work {
  import Rescale._

  private val rescale: String => Any = job.provider match {
    case Provider.Keyfold    => AdminApi.rescale(spark, _, To, dryRun = false)
    case _: Provider.RocksDb => SparkRepartition.run(spark, _, To)
    case _                   => throw new Unsupported(OnlyRocksDb)
  }
  private lazy val spark = CountQuery.session(job.provider, From)
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

  private def measure(count: StoppedCount): Seq[Figure] = {
    val checkpoint = count.checkpoint()
    val before = count.oneBatch(checkpoint)
    val start = System.nanoTime
    before.stop()
    val stopped = System.nanoTime
    rescale(checkpoint.toString)
    val rescaled = System.nanoTime
    val after = count.oneBatch(checkpoint)
    val done = System.nanoTime
    val progress = after.lastProgress
    after.stop()
    val partitions = progress.stateOperators.head.numShufflePartitions
    require(partitions == To, s"$partitions partitions")
    count.requireKeys(after)
    // The rescale's batch is the one before, and a version is one more than its batch.
    val read = job.provider match {
      case Provider.Keyfold => Seq(FirstLoads.readOfOwned(checkpoint, To, progress.batchId))
      case _                => Nil
    }
    Seq(
      Figure("apply", "ms", (rescaled - stopped) / 1e6),
      Figure("stop-to-batch", "ms", (done - start) / 1e6)
    ) ++ read.map(Figure("read", "ratio", _))
  }
}

object Rescale {
  private val From = 16
  private val To = 32
  private val WarmUpRows = 100000
  private[cell] val OnlyRocksDb = "Spark's own repartition is for RocksDB alone"
}
