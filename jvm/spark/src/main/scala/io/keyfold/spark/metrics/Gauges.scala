package io.keyfold.spark.metrics

import com.codahale.metrics.{Gauge, MetricRegistry}

/** Gauges of a registry whose names and values are replaced together. Threads: any.
  *
  * @param prefix
  *   of their names, ending with a dot
  */
private[metrics] final class Gauges(registry: MetricRegistry, prefix: String) {
  @volatile private var values = Map.empty[String, Double]

  def set(now: Map[String, Double]): Unit = synchronized {
    val before = values
    values = now
    (now.keySet -- before.keySet).foreach { name =>
      // A gauge that is read while it goes has no value.
      val gauge: Gauge[Double] = () => values.getOrElse(name, Double.NaN)
      registry.register(prefix + name, gauge)
    }
    (before.keySet -- now.keySet).foreach(name => registry.remove(prefix + name))
  }
}
