package io.keyfold.spark.metrics

import com.codahale.metrics.{Gauge, MetricRegistry}

/** Gauges of a registry whose names and values are replaced together. Threads: any.
  *
  * @param prefix
  *   of their names, ending with a dot
  */
private[metrics] final class Gauges(registry: MetricRegistry, prefix: String) {
  import Gauges.Current

  private var gauges = Map.empty[String, Current]

  def set(values: Map[String, Double]): Unit = synchronized {
    val (kept, gone) = gauges.partition { case (name, _) => values.contains(name) }
    // Who has one from the registry already finds its last value, not none.
    gone.keys.foreach(name => registry.remove(prefix + name))
    gauges = values.map { case (name, value) =>
      name -> kept.getOrElse(name, registered(prefix + name)).set(value)
    }
  }

  private def registered(name: String) = {
    registry.remove(name)
    registry.register(name, new Current)
  }
}

private object Gauges {
  private final class Current extends Gauge[Double] {
    @volatile private var value = 0.0

    def set(now: Double): this.type = {
      value = now
      this
    }

    override def getValue: Double = value
  }
}
