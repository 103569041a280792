package io.keyfold.spark.metrics

import org.json4s.JsonDSL._
import org.json4s._
import org.json4s.jackson.JsonMethods.{compact, parse, render}

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
    filesToLoad: Int,
    timeMs: Long
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
  private implicit val formats: Formats = DefaultFormats

  def text: String = compact(
    render(
      ("executor" -> executor) ~ ("metrics" -> metrics) ~
        ("stores" -> stores.map(Extraction.decompose))
    )
  )
}

private[metrics] object ExecutorReport {
  private implicit val formats: Formats = DefaultFormats

  def of(text: String): ExecutorReport = parse(text).extract[ExecutorReport]
}
