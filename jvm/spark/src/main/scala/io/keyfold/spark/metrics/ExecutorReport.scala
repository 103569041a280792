package io.keyfold.spark.metrics

import org.json4s.jackson.Serialization.{read, write}
import org.json4s.{DefaultFormats, Formats}

/** A store as an executor reports it, see [[io.keyfold.spark.state.StoreStatus]].
  *
  * @param memoryBytes
  *   off the heap
  * @param spilledBytes
  *   in local files
  */
private[metrics] final case class ReportedStore(
    run: String,
    operator: Long,
    partition: Int,
    store: String,
    version: Long,
    rows: Long,
    unplacedRows: Long,
    stateBytes: Long,
    memoryBytes: Long,
    spilledBytes: Long,
    commitMs: Long,
    filesToLoad: Int
)

/** What an executor tells the driver. It is sent as text: Spark's RPC cannot load classes of jars
  * that were added to the application.
  *
  * @param metrics
  *   by their names in [[ExecutorMetrics]]
  */
private[metrics] final case class ExecutorReport(
    executor: String,
    metrics: Map[String, Double],
    stores: Seq[ReportedStore]
) {
  def text: String = write(this)(ExecutorReport.formats)
}

private[metrics] object ExecutorReport {
  private implicit val formats: Formats = DefaultFormats

  def of(text: String): ExecutorReport = read[ExecutorReport](text)
}
