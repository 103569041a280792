package io.keyfold.spark.metrics

import java.util.{Collections, Map => JMap}

import com.codahale.metrics.Gauge
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, PluginContext}
import org.apache.spark.sql.keyfold.UiTab

/** Gives what all executors and queries report to Spark's metrics system on the driver, and to a
  * tab of the UI.
  */
private[spark] final class DriverSide extends DriverPlugin {
  private var application: Application = _

  override def init(context: SparkContext, plugin: PluginContext): JMap[String, String] = {
    application = new Application(plugin.metricRegistry)
    // Spark registers a plugin's metrics only if there is one at the start.
    val queries: Gauge[Int] = () => application.queries.length
    plugin.metricRegistry.register("queries", queries)
    context.addSparkListener(application)
    val page = new StatePage(application)
    UiTab.add(context, "keyfold", "State", () => page.content)
    Collections.emptyMap
  }

  override def receive(message: AnyRef): AnyRef = {
    application.add(ExecutorReport.of(message.toString))
    null
  }
}
