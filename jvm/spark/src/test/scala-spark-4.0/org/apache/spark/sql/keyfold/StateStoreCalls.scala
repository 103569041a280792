package org.apache.spark.sql.keyfold

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.state._

private[keyfold] object StateStoreCalls {
  def coordinator: StateStoreCoordinatorRef = StateStoreCoordinatorRef.forDriver(SparkEnv.get)

  /** Stops the threads of maintenance, without the lock that they may wait for: first the one that
    * hands the work out. Spark forgets both itself, in its own `stop`.
    */
  def stopMaintenance(): Unit = for (name <- Seq("maintenanceTask", "maintenanceThreadPool")) {
    val field = StateStore.getClass.getDeclaredField(name)
    field.setAccessible(true)
    Option(field.get(StateStore)).foreach(it => it.getClass.getMethod("stop").invoke(it))
  }
}
