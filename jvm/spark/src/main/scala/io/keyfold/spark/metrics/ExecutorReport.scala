package io.keyfold.spark.metrics

import io.keyfold.spark.state.StoreStatus
import org.json4s.jackson.Serialization.{read, write}
import org.json4s.{DefaultFormats, Formats}

/** What an executor tells the driver. It is sent as text: Spark's RPC cannot load classes of jars
  * that were added to the application.
  *
  * @param metrics
  *   by their names in [[ExecutorMetrics]]
  */
private[metrics] final case class ExecutorReport(
    executor: String,
    metrics: Map[String, Double],
    stores: Seq[StoreStatus]
) {
  def text: String = write(this)(ExecutorReport.formats)
}

private[metrics] object ExecutorReport {
  private implicit val formats: Formats = DefaultFormats

  def of(text: String): ExecutorReport = read[ExecutorReport](text)
}
