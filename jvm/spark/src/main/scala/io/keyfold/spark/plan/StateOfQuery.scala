package io.keyfold.spark.plan

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.keyfold.SparkShim

/** The state of an operator of a query. Spark also plans queries only to explain them, with what
  * the session says and no checkpoint; and transformWithState in batch has state for as long as a
  * task runs, in the session of the user, who may read that of a query next.
  */
private[spark] object StateOfQuery {
  private val NoCheckpoint = Set("<unknown>", "")

  def unapply(plan: SparkPlan): Option[SparkShim.StatefulOperatorStateInfo] = plan match {
    case operator: SparkShim.StatefulOperator =>
      operator.stateInfo.filter(state => !NoCheckpoint(state.checkpointLocation))
    case _ => None
  }
}
