package io.keyfold.spark.metrics

import java.time.Instant

import io.keyfold.spark.state.StoreStatus
import org.apache.spark.sql.streaming.{StateOperatorProgress, StreamingQueryProgress}

/** The metrics of a query and of its operators, from the progress that Spark reports of each batch.
  */
private[spark] object QueryMetrics {
  type Operator = StateOperatorProgress

  /** Also set while there is no input. */
  val Seen = "seen_timestamp_seconds"

  val ofQuery: Seq[Metric[StreamingQueryProgress]] = Seq(
    Metric("batch_id", "number of the last batch", _.batchId.toDouble),
    Metric("batch_seconds", "duration of the last batch", durationOf(_, "triggerExecution")),
    Metric("batch_timestamp_seconds", "when the last batch began, since 1970", began),
    Metric(
      Seen,
      "when the last batch ended, or Spark last said that there was no input, since 1970",
      it => began(it) + durationOf(it, "triggerExecution")
    ),
    Metric("input_rows_total", "rows read", _.numInputRows.toDouble)
  )

  val ofOperator: Seq[Metric[Operator]] = Seq[Metric[Operator]](
    Metric("state_rows", "rows of the state", _.numRowsTotal.toDouble),
    custom("state_bytes", "bytes of keys and values of the state", "StateBytes"),
    custom("memory_bytes", "off-heap memory of the state", "OffHeapBytes"),
    custom("spilled_bytes", "state in local files, beyond the memory budget", "SpilledBytes"),
    Metric("partitions", "partitions of the state", _.numShufflePartitions.toDouble),
    Metric("updated_rows_total", "rows put", _.numRowsUpdated.toDouble),
    Metric("removed_rows_total", "rows removed", _.numRowsRemoved.toDouble),
    Metric("late_rows_total", "rows dropped as too late", _.numRowsDroppedByWatermark.toDouble),
    Metric("update_seconds_total", "time of updates, of all tasks", _.allUpdatesTimeMs / 1000.0),
    Metric("remove_seconds_total", "time of removes, of all tasks", _.allRemovalsTimeMs / 1000.0),
    Metric("commit_seconds_total", "time of commits, of all tasks", _.commitTimeMs / 1000.0),
    Metric("load_seconds_total", "time of loads, of all tasks", customOf(_, "LoadMs") / 1000),
    custom("loads_total", "versions loaded from files", "Loads"),
    custom("rescaled_loads_total", "of these, from another number of partitions", "RescaledLoads"),
    custom("memory_hits_total", "versions found in memory", "MemoryHits"),
    custom("snapshot_fallbacks_total", "snapshots replaced by other files", "SnapshotFallbacks"),
    custom("deltas_total", "delta files written", "Deltas"),
    custom("delta_bytes_total", "bytes of these", "DeltaBytes"),
    custom("snapshots_total", "snapshot files written", "Snapshots"),
    custom("snapshot_bytes_total", "bytes of these", "SnapshotBytes"),
    custom("merges_total", "merged deltas written", "Merges"),
    custom("merged_bytes_total", "bytes of these", "MergedBytes"),
    custom("files_deleted_total", "files deleted by retention", "FilesDeleted"),
    custom("file_operations_total", "file operations, with retries", "FileOperations"),
    custom("file_retries_total", "file operations repeated after a failure", "FileRetries")
  )

  /** Of an operator's stores, as its executors report them. */
  val ofStores: Seq[Metric[Seq[StoreStatus]]] = Seq(
    Metric(
      "stores",
      "stores that are loaded: of a join several for each partition",
      _.length.toDouble
    ),
    Metric(
      "unplaced_rows",
      "rows that Spark does not place by the hash of a key",
      _.map(_.unplacedRows).sum.toDouble
    ),
    Metric("partition_rows_max", "rows of the partition with the most", mostRows),
    Metric(
      "partition_rows_mean",
      "rows of a partition",
      it => rowsOf(it).values.sum / rowsOf(it).size.max(1)
    ),
    Metric(
      "load_files_max",
      "files that the next load of a partition would read, at most",
      _.map(_.filesToLoad).max.toDouble
    )
  )

  /** By partition. As in Spark's progress, what a join counts its rows by is no rows. */
  def rowsOf(stores: Seq[StoreStatus]): Map[Int, Double] =
    stores
      .filterNot(_.store.endsWith("-keyToNumValues"))
      .groupMapReduce(_.partition)(_.rows.toDouble)(_ + _)

  /** Of a partition. */
  def mostRows(stores: Seq[StoreStatus]): Double = rowsOf(stores).values.maxOption.getOrElse(0.0)

  /** @param key
    *   name in Spark's progress, without Keyfold's
    */
  private def custom(name: String, doc: String, key: String) =
    Metric[Operator](name, doc, customOf(_, key))

  private def customOf(operator: Operator, key: String): Double =
    Option(operator.customMetrics.get(s"keyfold$key")).fold(0.0)(_.doubleValue)

  private def began(progress: StreamingQueryProgress) = secondsOf(progress.timestamp)

  /** Of a time as Spark's events have it. */
  def secondsOf(time: String): Double = Instant.parse(time).toEpochMilli / 1000.0

  private def durationOf(progress: StreamingQueryProgress, key: String) =
    Option(progress.durationMs.get(key)).fold(0.0)(_.doubleValue / 1000)
}
