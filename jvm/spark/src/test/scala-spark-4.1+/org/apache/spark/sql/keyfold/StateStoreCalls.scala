package org.apache.spark.sql.keyfold

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.internal.SQLConf

private[keyfold] object StateStoreCalls {
  def coordinator: StateStoreCoordinatorRef =
    StateStoreCoordinatorRef.forDriver(SparkEnv.get, new SQLConf)

  /** Stops the threads of maintenance, without the lock that they may wait for. */
  def stopMaintenance(): Unit = {
    StateStore.getClass.getMethod("stopMaintenanceTaskWithoutLock").invoke(StateStore)
    ()
  }
}
