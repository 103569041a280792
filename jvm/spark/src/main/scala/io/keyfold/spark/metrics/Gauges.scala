package io.keyfold.spark.metrics

import com.codahale.metrics.{DefaultSettableGauge, MetricRegistry}

/** Gauges of a registry whose names and values are replaced together. Threads: any.
  *
  * @param prefix
  *   of their names, ending with a dot
  */
private[metrics] final class Gauges(registry: MetricRegistry, prefix: String) {
  private var gauges = Map.empty[String, DefaultSettableGauge[Double]]

  def set(values: Map[String, Double]): Unit = synchronized {
    val (kept, gone) = gauges.partition { case (name, _) => values.contains(name) }
    // Who has one from the registry already finds its last value, not none.
    gone.keys.foreach(name => registry.remove(prefix + name))
    gauges = values.map { case (name, value) =>
      val gauge = kept.getOrElse(name, registered(prefix + name))
      gauge.setValue(value)
      name -> gauge
    }
  }

  private def registered(name: String) = {
    registry.remove(name)
    registry.register(name, new DefaultSettableGauge(0.0))
  }
}
