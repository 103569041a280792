package org.apache.spark.sql.keyfold

import io.keyfold.errors.Invalid
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf

/** Explains why a query with the checkpoint of another provider cannot run. A checkpoint keeps its
  * provider, whatever the session says, but not its checkpoint format, and Keyfold's settings ask
  * for v2. HDFSBacked does not support v2, and RocksDB does not find the ids of earlier batches;
  * neither error says what to do. Unknown providers are not checked.
  *
  * @param known
  *   class names of Spark's two providers
  */
final class RefuseOtherProvider(known: Seq[String]) extends ColumnarRule {
  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      plan.foreach {
        case operator: SparkShim.StatefulOperator =>
          val found = operator.conf.getConf(SQLConf.STATE_STORE_PROVIDER_CLASS)
          if (
            known.contains(found) &&
            SparkShim.StatefulOperatorStateInfo.enableStateStoreCheckpointIds(operator.conf)
          ) operator.stateInfo.foreach(check(_, found))
        case _ =>
      }
      plan
    }
  }

  private def check(state: SparkShim.StatefulOperatorStateInfo, found: String): Unit =
    if (state.storeVersion > 0 && state.stateStoreCkptIds.isEmpty) {
      throw RefuseOtherProvider.refused(state.checkpointLocation, found)
    }
}

private[keyfold] object RefuseOtherProvider {

  /** @param state
    *   the folder of the state
    * @param found
    *   class name of the provider that wrote it under checkpoint format 1
    */
  def refused(state: String, found: String): Invalid = {
    val format = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
    new Invalid(
      "KEYFOLD_OTHER_PROVIDER",
      s"The state in $state was written by $found, under checkpoint " +
        "format 1. A checkpoint keeps its provider, and Spark cannot continue it under " +
        s"$format=2, which is set for Keyfold. To continue with that provider, set $format=1 " +
        "for this query before it starts. To move the state to Keyfold, stop the query and " +
        "run `keyfold migrate` on its checkpoint, or start with a new checkpoint location."
    )
  }
}
