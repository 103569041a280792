package io.keyfold.spark.metrics

import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}
import java.util.{Map => JMap}

import scala.util.control.NonFatal

import org.apache.spark.api.plugin.{ExecutorPlugin, PluginContext}
import org.apache.spark.sql.keyfold.SparkPrivate
import org.slf4j.LoggerFactory

/** Gives an executor's metrics to Spark's metrics system there, and sends them to the driver, with
  * the state of each store, as often as Spark's own heartbeat. In local mode the driver's metrics
  * have them already.
  */
private[spark] final class ExecutorSide extends ExecutorPlugin {
  import ExecutorSide._

  private val timer: ScheduledExecutorService =
    Executors.newSingleThreadScheduledExecutor { (work: Runnable) =>
      val thread = new Thread(work, "keyfold-metrics")
      thread.setDaemon(true)
      thread
    }

  override def init(context: PluginContext, settings: JMap[String, String]): Unit = {
    val gauges = Option.unless(context.executorID == SparkPrivate.LocalExecutor) {
      new Gauges(context.metricRegistry, "executor.")
    }
    gauges.foreach(_.set(valuesOf(ExecutorMetrics.now)))
    val everyMs = context.conf.getTimeAsMs("spark.executor.heartbeatInterval", "10s")
    timer.scheduleWithFixedDelay(
      () => report(context, gauges),
      everyMs,
      everyMs,
      TimeUnit.MILLISECONDS
    )
    ()
  }

  private def report(context: PluginContext, gauges: Option[Gauges]): Unit =
    try {
      val now = ExecutorMetrics.now
      val values = valuesOf(now)
      gauges.foreach(_.set(values))
      val stores = now.stores.sortBy(-_.rows).take(MostStores)
      context.send(ExecutorReport(context.executorID, values, stores).text)
    } catch {
      // The next report may arrive; an exception would be the last of the timer.
      case NonFatal(e) => log.debug("The driver did not get the metrics of this executor", e)
    }

  override def shutdown(): Unit = {
    timer.shutdownNow()
    ()
  }
}

private object ExecutorSide {
  private val log = LoggerFactory.getLogger(classOf[ExecutorSide])

  /** Of one report; those with the most rows. */
  private val MostStores = 2000

  private def valuesOf(now: ExecutorMetrics.Now): Map[String, Double] =
    ExecutorMetrics.all.map(it => it.name -> it.of(now)).toMap
}
