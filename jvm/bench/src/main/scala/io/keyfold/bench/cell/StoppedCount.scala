package io.keyfold.bench.cell

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit.DAYS

import io.keyfold.testkit.Folders
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.StateStores
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}

/** Checkpoints of a counting query that is stopped, changed and started again.
  *
  * @param keys
  *   how many the state gets
  */
final class StoppedCount(spark: SparkSession, val keys: Int) {
  import StoppedCount._

  private val count = new CountQuery(spark, keys)

  /** One that was just stopped; each call copies the same. */
  def checkpoint(): Path = {
    val copy = Files.createTempDirectory("checkpoint")
    Folders.copy(filled, copy)
    copy
  }

  /** With a snapshot, and half as many deltas after it as there are between two. */
  private lazy val filled = {
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

  /** Goes on with the query, and returns when it has done a batch and waits. */
  def oneBatch(checkpoint: Path): StreamingQuery = {
    val query = count.start(checkpoint.toString, Trigger.ProcessingTime(Never))
    count.await(query, 0)
    query
  }

  /** Checks the keys of the state that a batch has reported. */
  def requireKeys(query: StreamingQuery): Unit =
    count.requireKeys(query.lastProgress.stateOperators.head.numRowsTotal)
}

private object StoppedCount {

  /** Spark's default. */
  private val DeltasPerSnapshot = 10
  private val Never = DAYS.toMillis(36500)
}
