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
