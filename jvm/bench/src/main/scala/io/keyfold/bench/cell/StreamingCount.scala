package io.keyfold.bench.cell

import java.nio.file.Files

import io.keyfold.bench.{Effort, Figure}
import org.apache.spark.sql.streaming.Trigger

/** A count per key in 4 partitions: ten batches on a state that has all keys are measured, each as
  * a whole as Spark reports it.
  */
final class StreamingCount(job: Job) extends Work {
  import StreamingCount._

  private val spark = CountQuery.session(job.provider, Partitions)
  private val count = new CountQuery(spark, job.rows)

  override def prepare(): Unit = ()

  override def round(number: Int): Seq[Figure] = {
    val checkpoint = Files.createTempDirectory("checkpoint").toString
    val query = count.start(checkpoint, Trigger.ProcessingTime(0))
    val last = count.filling + WarmUp + Measured - 1
    count.await(query, last)
    val batches =
      query.recentProgress.toSeq.filter(p => p.batchId > last - Measured && p.batchId <= last)
    query.stop()
    require(batches.size == Measured, s"${batches.size} batches were reported")
    count.requireKeys(batches.head.stateOperators.head.numRowsTotal)
    Seq(Figure("batch", "ms", batches.map(_.durationMs.get("triggerExecution").toDouble)))
  }

  override def rounds(effort: Effort): Int = 1
  override def warmUpSeconds(effort: Effort): Double = 0
  override def close(): Unit = spark.stop()
}

object StreamingCount {
  private val Partitions = 4
  private val WarmUp = 3
  private val Measured = 10
}
