package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/** Tells executors how many partitions the state of a query has, as later lines do themselves.
  * Without it they know the session's `spark.sql.shuffle.partitions`, which is another number once
  * `foreachBatch` has set it for what it does with its rows.
  */
private[keyfold] object TellPartitions extends ColumnarRule {
  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      plan.foreach {
        case operator @ StateOfQuery(state) =>
          operator.conf.setConfString(SparkShim.PartitionsKey, state.numPartitions.toString)
        case _ =>
      }
      plan
    }
  }
}

/** The state of an operator of a query. Spark also plans queries only to explain them, with what
  * the session says and no checkpoint; and transformWithState in batch has state for as long as a
  * task runs, in the session of the user, who may read that of a query next.
  */
private[keyfold] object StateOfQuery {
  private val NoCheckpoint = Set("<unknown>", "")

  def unapply(plan: SparkPlan): Option[SparkShim.StatefulOperatorStateInfo] = plan match {
    case operator: SparkShim.StatefulOperator =>
      operator.stateInfo.filter(state => !NoCheckpoint(state.checkpointLocation))
    case _ => None
  }
}
