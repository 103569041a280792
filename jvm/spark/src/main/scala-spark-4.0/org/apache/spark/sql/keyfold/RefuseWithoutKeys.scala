package org.apache.spark.sql.keyfold

import io.keyfold.errors.Invalid
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

/** Explains what this line cannot do under checkpoint format 2. It wants an id of each partition,
  * and an operator without keys has one partition, whatever the setting is. Spark's own error
  * speaks of the lengths of lists.
  *
  * @param provider
  *   class name; queries of others are not looked at
  */
private[keyfold] final class RefuseWithoutKeys(provider: String) extends ColumnarRule {
  private val format = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
  private val partitions = SQLConf.SHUFFLE_PARTITIONS.key

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      plan.foreach {
        case it: SparkShim.StatefulOperator if isRefused(it) =>
          throw new Invalid(
            "KEYFOLD_CHECKPOINT_FORMAT",
            s"Spark $SPARK_VERSION cannot run a query without keys (${it.nodeName}: an aggregation " +
              s"without groups, or a limit) under $format=2 with more than one partition. Set " +
              s"$format=1 for this query, or $partitions=1, before its first start; Spark 4.1 and " +
              "later need neither."
          )
        case _ =>
      }
      plan
    }
  }

  private def isRefused(it: SparkShim.StatefulOperator) =
    it.conf.getConf(SQLConf.STATE_STORE_PROVIDER_CLASS) == provider &&
      SparkShim.StatefulOperatorStateInfo.enableStateStoreCheckpointIds(it.conf) &&
      it.outputPartitioning.numPartitions == 1 && it.stateInfo.exists(_.numPartitions > 1)
}
