package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate._
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.Utils

/** Admits Keyfold to transformWithState. Spark 4.2 accepts only the class name of its RocksDB
  * provider, so each such operator is replaced by a copy without that check.
  *
  * @param provider
  *   class name; subclasses are admitted too
  */
final class AdmitTransformWithState(provider: String) extends ColumnarRule {
  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case p: TransformWithStateExec if !p.isInstanceOf[Admitted] && isAdmitted(p.conf) =>
        new AdmittedTransformWithState(p)
      case p: TransformWithStateInPySparkExec if !p.isInstanceOf[Admitted] && isAdmitted(p.conf) =>
        new AdmittedTransformWithStateInPySpark(p)
    }
  }

  /** A class that cannot be loaded here is not Keyfold's. */
  private def isAdmitted(conf: SQLConf): Boolean = {
    val configured = conf.getConf(SQLConf.STATE_STORE_PROVIDER_CLASS)
    def load(name: String) = Utils.classForName[Any](name, initialize = false)
    configured == provider ||
    (try load(provider).isAssignableFrom(load(configured))
    catch { case _: ClassNotFoundException | _: LinkageError => false })
  }
}

/** An operator without the check. It is unequal to its original and wrapped again when copied,
  * because Spark would otherwise return to the original.
  */
private[keyfold] trait Admitted extends TransformWithStateExecBase {
  override protected def validateStateStoreProvider(isStreaming: Boolean): Unit = ()

  override def canEqual(other: Any): Boolean = other.isInstanceOf[Admitted]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode
}
