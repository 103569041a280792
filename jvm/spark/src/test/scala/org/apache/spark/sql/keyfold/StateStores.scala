package org.apache.spark.sql.keyfold

import scala.collection.mutable

import org.apache.spark.sql.execution.streaming.state._

/** Spark's stores of this process, and the driver's word on which executor has which, for tests. */
object StateStores {

  /** Makes the driver keep account of stores, as a query would. */
  def startCoordinator(): Unit = {
    StateStoreCalls.coordinator
    ()
  }

  /** Runs `body` as in an application that has not run a query yet. */
  def withoutCoordinator[T](body: => T): T = {
    val coordinator = StateStoreCalls.coordinator
    coordinator.getClass.getMethod("stop").invoke(coordinator)
    try body
    finally startCoordinator()
  }

  /** Another executor has taken the store over. */
  def moveElsewhere(store: StateStoreProviderId): Unit = {
    StateStoreCalls.coordinator.reportActiveInstance(store, "other-host", "other-executor", Nil)
    ()
  }

  /** What Spark does at each maintenance interval: hands the work to its threads. */
  def maintain(): Unit = {
    val method = StateStore.getClass.getDeclaredMethod("doMaintenance")
    method.setAccessible(true)
    method.invoke(StateStore)
    ()
  }

  /** Unloads all stores. Maintenance is stopped first, without the lock: its threads want it, and
    * Spark's own `stop` would wait for them until its time is up.
    */
  def stop(): Unit = {
    StateStoreCalls.stopMaintenance()
    StateStore.stop()
  }

  /** Whether no thread maintains a store, nor is to. */
  def isIdle: Boolean = LineFacts.maintained.forall { name =>
    val field = StateStore.getClass.getDeclaredField(name)
    field.setAccessible(true)
    field.get(StateStore).asInstanceOf[mutable.Set[StateStoreProviderId]].isEmpty
  }
}
