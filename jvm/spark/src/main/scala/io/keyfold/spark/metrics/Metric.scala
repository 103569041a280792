package io.keyfold.spark.metrics

/** A metric of the contract in `docs/metrics.md`.
  *
  * @param name
  *   with the unit, and `_total` if it only grows, as Prometheus' conventions say
  * @param of
  *   its value in the unit of its name; of a total, what is to be added for a batch
  */
private[spark] final case class Metric[T](name: String, doc: String, of: T => Double) {
  def isTotal: Boolean = name.endsWith("_total")
}
