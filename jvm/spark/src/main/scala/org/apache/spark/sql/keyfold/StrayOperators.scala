package org.apache.spark.sql.keyfold

import java.util.Locale.ROOT

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.types._
import org.slf4j.LoggerFactory

/** Tells executors which operators get rows that their stored keys do not place: Scala's
  * `df.groupBy(...).as[K, V].transformWithState` partitions by the grouping columns and stores keys
  * of type K. With one partition no row shows it, and a rescale would separate input and state.
  *
  * Only what the plan proves is told. (A string that is no UTF-8 is stored as another one.)
  */
object StrayOperators extends ColumnarRule {
  private val log = LoggerFactory.getLogger("io.keyfold.spark.KeyfoldExtensions")

  /** Setting with the ids of such operators of a query, which only this rule sets. */
  private val Key = "spark.sql.streaming.internal.keyfold.strays"

  def has(conf: Configuration, operator: Long): Boolean = in(conf.get(Key, "")).contains(operator)

  private def in(ids: String): Set[Long] = ids.split(',').filter(_.nonEmpty).map(_.toLong).toSet

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = {
      plan.foreach {
        case operator: SparkShim.TransformWithStateExec =>
          StateOfQuery.unapply(operator).foreach(tell(operator, _))
        case _ =>
      }
      plan
    }
  }

  private def tell(
      operator: SparkShim.TransformWithStateExec,
      state: SparkShim.StatefulOperatorStateInfo
  ): Unit = {
    val shuffled = StructType(operator.groupingAttributes.map(a => StructField(a.name, a.dataType)))
    val stored = operator.keyEncoder.schema
    val told = in(operator.conf.getConfString(Key, ""))
    if (!isAsStored(shuffled, stored) && !told(state.operatorId)) {
      operator.conf.setConfString(Key, (told + state.operatorId).mkString(","))
      log.warn(
        s"Operator ${state.operatorId} of ${state.checkpointLocation} partitions its input by " +
          s"(${shuffled.toDDL}) and stores keys as (${stored.toDDL}), whose hashes differ. It runs " +
          "as with Spark's own providers; new state of it cannot be rescaled " +
          "(KEYFOLD_RESCALE_PLACEMENT). Cast the columns to the types of the key, in its order, to " +
          "be able to rescale it."
      )
    }
  }

  /** Whether a value that is shuffled by has the same hash as the stored one. */
  private[keyfold] def isAsStored(shuffled: DataType, stored: DataType): Boolean =
    (shuffled, stored) match {
      case (a: StructType, b: StructType) =>
        a.length == b.length && !isReordered(a, b) && a.zip(b).forall { case (x, y) =>
          isAsStored(x.dataType, y.dataType)
        }
      case (a: ArrayType, b: ArrayType) => isAsStored(a.elementType, b.elementType)
      case (a: MapType, b: MapType)     =>
        isAsStored(a.keyType, b.keyType) && isAsStored(a.valueType, b.valueType)
      case _ => shuffled == stored
    }

  /** Fields are matched by their names, unless the key is a tuple or a single value. */
  private def isReordered(a: StructType, b: StructType) = {
    val (left, right) = (namesOf(a), namesOf(b))
    left != right && left.sorted == right.sorted
  }

  private def namesOf(struct: StructType) = struct.fieldNames.toSeq.map(_.toLowerCase(ROOT))
}
