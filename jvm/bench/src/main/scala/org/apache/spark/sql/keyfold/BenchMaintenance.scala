package org.apache.spark.sql.keyfold

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProviderId}

/** Maintenance of all stores of this process at once, instead of at its interval. */
object BenchMaintenance {

  /** Returns when it is done. */
  def run(): Unit = {
    val start = StateStore.getClass.getDeclaredMethod("doMaintenance")
    start.setAccessible(true)
    start.invoke(StateStore)
    val field = StateStore.getClass.getDeclaredField("maintenancePartitions")
    field.setAccessible(true)
    val busy = field.get(StateStore).asInstanceOf[mutable.Set[StateStoreProviderId]]
    while (busy.nonEmpty) Thread.sleep(20)
  }
}
