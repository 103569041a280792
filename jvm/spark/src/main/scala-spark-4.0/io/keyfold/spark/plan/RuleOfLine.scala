package io.keyfold.spark.plan

import io.keyfold.errors.Invalid
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.plans.physical.AllTuples
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.SparkShim

/** Tells executors how many partitions the state of a query has, as later lines do themselves.
  * Without it they know the session's `spark.sql.shuffle.partitions`, which is another number once
  * `foreachBatch` has set it for what it does with its rows.
  *
  * And explains why an operator that has all rows in one task cannot run under checkpoint format 2:
  * an aggregation without keys, a limit. Spark 4.0 wants an id from each partition, whatever the
  * provider, and fails at the end of the first batch with `ChekpointInfo length: 1`.
  */
object RuleOfLine extends ColumnarRule {
  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      plan.foreach {
        case operator @ StateOfQuery(state) =>
          operator.conf.setConfString(SparkShim.PartitionsKey, state.numPartitions.toString)
          if (
            state.numPartitions > 1 && operator.requiredChildDistribution.contains(AllTuples) &&
            SparkShim.StatefulOperatorStateInfo.enableStateStoreCheckpointIds(operator.conf)
          ) throw refused(operator.nodeName)
        case _ =>
      }
      plan
    }
  }

  private def refused(operator: String) = {
    val format = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
    new Invalid(
      "KEYFOLD_CHECKPOINT_FORMAT",
      s"Spark $SPARK_VERSION cannot run $operator under $format=2, which is set for Keyfold: all " +
        s"its rows are in one partition. Set $format=1 for this query before it starts, or " +
        s"${SQLConf.SHUFFLE_PARTITIONS.key}=1 if it is new, or use Spark 4.1 or later."
    )
  }
}
