package io.keyfold.bench.cell

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit.DAYS

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.keyfold.bench.{Effort, Figure, Provider}
import io.keyfold.spark.admin.AdminApi
import org.apache.spark.sql.keyfold.{SparkRepartition, StateStores}
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** A counting query of 16 partitions is stopped and goes on with 32: by Keyfold's plan and apply,
  * and by Spark's own repartition for RocksDB. Each round does it to a copy of the same checkpoint,
  * after a batch with 16.
  */
final class Rescale(job: Job) extends Work {
  import Rescale._

  private val rescale: String => Any = job.provider match {
    case Provider.Keyfold    => AdminApi.rescale(spark, _, To, dryRun = false)
    case _: Provider.RocksDb => SparkRepartition.run(spark, _, To)
    case _ => throw new Unsupported("Spark's own repartition is for RocksDB alone")
  }
  private lazy val spark = CountQuery.session(job.provider, From)
  private lazy val count = new CountQuery(spark, job.rows)
  private lazy val filled = fill(count)

  /** Loads classes and code with another state. */
  override def prepare(): Unit = {
    val other = new CountQuery(spark, math.min(job.rows, WarmUpRows))
    measure(other, fill(other))
    filled
    ()
  }

  override def round(number: Int): Seq[Figure] = measure(count, copyOf(filled))

  override def warmUpSeconds(effort: Effort): Double = 0
  override def close(): Unit = spark.stop()

  /** With a snapshot, and half as many deltas after it as there are between two. */
  private def fill(count: CountQuery): Path = {
    val checkpoint = Files.createTempDirectory("checkpoint")
    val query = count.start(checkpoint.toString, Trigger.ProcessingTime(0))
    count.await(query, math.max(count.filling, DeltasPerSnapshot))
    maintain()
    count.await(query, query.lastProgress.batchId + DeltasPerSnapshot / 2)
    query.stop()
    checkpoint
  }

  private def maintain(): Unit = {
    StateStores.maintain()
    while (!StateStores.isIdle) Thread.sleep(20)
  }

  private def measure(count: CountQuery, checkpoint: Path): Seq[Figure] = {
    val before = oneBatch(count, checkpoint)
    val start = System.nanoTime
    before.stop()
    val stopped = System.nanoTime
    rescale(checkpoint.toString)
    val rescaled = System.nanoTime
    val after = oneBatch(count, checkpoint)
    val done = System.nanoTime
    val progress = after.lastProgress
    after.stop()
    val operator = progress.stateOperators.head
    require(operator.numShufflePartitions == To, s"${operator.numShufflePartitions} partitions")
    count.requireKeys(operator.numRowsTotal)
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

  /** Goes on with the query, and returns when it has done a batch and waits. */
  private def oneBatch(count: CountQuery, checkpoint: Path): StreamingQuery = {
    val query = count.start(checkpoint.toString, Trigger.ProcessingTime(Never))
    count.await(query, 0)
    query
  }

  private def copyOf(checkpoint: Path): Path = {
    val copy = Files.createTempDirectory("checkpoint")
    Using.resource(Files.walk(checkpoint)) { paths =>
      paths.iterator.asScala.filter(_ != checkpoint).foreach { path =>
        Files.copy(path, copy.resolve(checkpoint.relativize(path)))
      }
    }
    copy
  }
}

object Rescale {
  private val From = 16
  private val To = 32
  private val WarmUpRows = 100000

  /** Spark's default. */
  private val DeltasPerSnapshot = 10
  private val Never = DAYS.toMillis(36500)
}
