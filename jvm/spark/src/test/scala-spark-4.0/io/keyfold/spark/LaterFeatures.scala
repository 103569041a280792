package io.keyfold.spark

import scala.annotation.unused

import org.apache.spark.sql.execution.streaming.state._

/** What this line lacks. */
object LaterFeatures extends FeaturesSince42 {
  val conditionalWrites = false
  val oneTaskWithIds = false
  val stateReaderKnowsIds = false
  val maintainAndUnload: Option[StateStoreProviderId => Unit] = None

  /** There are no metrics of single stores. */
  def instanceMetrics(
      @unused announced: StateStoreProvider,
      @unused partition: Int,
      @unused store: String
  ): Set[Any] = Set.empty
  def instanceMetrics(@unused metrics: StateStoreMetrics): Set[Any] = Set.empty
}
