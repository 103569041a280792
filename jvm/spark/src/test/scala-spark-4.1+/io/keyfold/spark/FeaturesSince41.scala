package io.keyfold.spark

import org.apache.spark.sql.execution.streaming.state._

/** What Spark 4.0 lacks. */
trait FeaturesSince41 {

  /** Whether Hadoop's client for S3 can create an object only if there is none. */
  val conditionalWrites = true

  /** Whether an aggregation without keys runs under checkpoint format 2. */
  val oneTaskWithIds = true

  /** Whether the state reader reads checkpoints of format 2. */
  val stateReaderKnowsIds = true

  /** What Spark does at the end of a task where stores are unloaded then. */
  val maintainAndUnload: Option[StateStoreProviderId => Unit] =
    Some(StateStore.doMaintenanceAndUnload)

  /** Metrics of a single store: those a provider announces for it, and those it has. */
  def instanceMetrics(announced: StateStoreProvider, partition: Int, store: String): Set[Any] =
    announced.supportedInstanceMetrics.map(_.withNewId(partition, store)).toSet

  def instanceMetrics(metrics: StateStoreMetrics): Set[Any] = metrics.instanceMetrics.keySet.toSet
}
