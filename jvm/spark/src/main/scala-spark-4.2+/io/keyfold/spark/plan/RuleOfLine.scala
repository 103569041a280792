package io.keyfold.spark.plan

import io.keyfold.spark.conf.ProviderClass
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate._
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyfold.SparkPrivate

/** Admits Keyfold, and subclasses of its provider, to transformWithState. Spark 4.2 accepts only
  * the class name of its RocksDB provider, so each such operator is replaced by a copy without that
  * check.
  */
object RuleOfLine extends ColumnarRule {
  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case p: Admitted[_]                                  => p
      case p: TransformWithStateExec if isAdmitted(p.conf) => new AdmittedTransformWithState(p)
      case p: TransformWithStateInPySparkExec if isAdmitted(p.conf) =>
        new AdmittedTransformWithStateInPySpark(p)
    }
  }

  /** A class that cannot be loaded here is not Keyfold's. */
  private def isAdmitted(conf: SQLConf): Boolean = {
    val configured = conf.getConf(SQLConf.STATE_STORE_PROVIDER_CLASS)
    configured == ProviderClass.Keyfold || (for {
      keyfolds <- SparkPrivate.classNamed(ProviderClass.Keyfold)
      other <- SparkPrivate.classNamed(configured)
    } yield keyfolds.isAssignableFrom(other)).contains(true)
  }
}

/** An operator without the check. It is unequal to its original and wrapped again when copied,
  * because Spark would otherwise return to the original.
  */
private trait Admitted[P <: SparkPlan] extends TransformWithStateExecBase {

  /** The same with the check. */
  protected def original: P

  protected def admitted(plan: P): P

  copyTagsFrom(original)

  override protected def validateStateStoreProvider(isStreaming: Boolean): Unit = ()

  override def canEqual(other: Any): Boolean = other.isInstanceOf[Admitted[_]]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode

  override def makeCopy(args: Array[AnyRef]): SparkPlan = again(original.makeCopy(args))

  override protected def withNewChildrenInternal(left: SparkPlan, right: SparkPlan): P =
    again(original.withNewChildren(Seq(left, right)))

  private def again(plan: SparkPlan): P = {
    plan.copyTagsFrom(this)
    admitted(plan.asInstanceOf[P])
  }
}
