package org.apache.spark.sql.keyfold

import scala.annotation.unused

import org.apache.spark.sql.execution.streaming.state._

/** Names, places and types that differ in other Spark lines. */
object SparkShim extends ShimSince42 {
  type Provider = StateStoreProvider
  type ReadStore = ReadStateStore

  /** The checkpoint format under which a query continues a checkpoint of `format` when `wanted` is
    * set; None if Spark refuses to.
    */
  def continuesUnder(format: Int, @unused wanted: Int): Option[Int] = Some(format)

  /** A metric that is a number of things as of now; stores' numbers are added up. (Spark's own
    * provider has such numbers as sizes too: its sums are none of a moment.)
    */
  def currentCount(name: String, description: String): StateStoreCustomMetric =
    currentSize(name, description)

  /** A metric that is a size in bytes as of now; stores' sizes are added up. */
  def currentSize(name: String, description: String): StateStoreCustomMetric =
    StateStoreCustomSizeMetric(name, description, isSnapshot = true)
}
