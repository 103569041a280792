package io.keyfold.spark

import io.keyfold.spark.metrics.{DriverSide, ExecutorSide}
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}
import org.slf4j.LoggerFactory

/** For `spark.plugins`: Keyfold's metrics in Spark's metrics system, and the tab "State" of Spark's
  * UI. On another line of Spark it does nothing but say so.
  */
class KeyfoldPlugin extends SparkPlugin {
  override def driverPlugin: DriverPlugin = onThisLine(new DriverSide)
  override def executorPlugin: ExecutorPlugin = onThisLine(new ExecutorSide)

  private def onThisLine[T >: Null](side: => T): T = LineOfSpark.mismatch.fold(side) { said =>
    LoggerFactory.getLogger(getClass).error(said)
    null
  }
}
