package org.apache.spark.sql.keyfold

import io.keyfold.spark.partition.ShuffledKey
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.types.{StructField, StructType}
import org.slf4j.LoggerFactory

/** Tells executors which operators get rows that their stored keys do not place: Scala's
  * `df.groupBy(...).as[K, V].transformWithState` partitions by the grouping columns and stores keys
  * of type K. With one partition no row shows it, and a rescale would separate input and state,
  * unless it computes the columns from the stored key.
  *
  * Only what the plan proves is told. (A string that is no UTF-8 is stored as another one.)
  */
object StrayOperators extends ColumnarRule {
  private val log = LoggerFactory.getLogger("io.keyfold.spark.KeyfoldExtensions")

  /** Setting that only this rule sets, `<operator>=<columns>`, and so on: the columns as in files,
    * empty if they cannot be computed.
    */
  private val Key = "spark.sql.streaming.internal.keyfold.strays"
  private val Entry = "(\\d+)=(.*)".r

  /** By what Spark partitions an operator's input.
    *
    * @param strays
    *   whether that cannot be computed from the stored keys
    * @param key
    *   how to compute it, if it is to be computed
    */
  final case class Shuffle(strays: Boolean, key: Option[ShuffledKey])

  /** By the stored keys, as they are, unless the plan has said something else. */
  def shuffleOf(conf: Configuration, operator: Long): Shuffle =
    in(conf.get(Key, "")).get(operator).fold(Shuffle(strays = false, None)) { columns =>
      Shuffle(columns.isEmpty, Option.when(columns.nonEmpty)(ShuffledKey.named(columns)))
    }

  private def in(told: String): Map[Long, String] =
    told.split(' ').collect { case Entry(id, columns) => id.toLong -> columns }.toMap

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
    if (!ShuffledKey.isAsStored(shuffled, stored) && !told.contains(state.operatorId)) {
      val key = ShuffledKey.of(shuffled, stored)
      val entries = told + (state.operatorId -> key.fold("")(_.toString))
      operator.conf.setConfString(
        Key,
        entries.map { case (id, columns) => s"$id=$columns" }.mkString(" ")
      )
      if (key.isEmpty) {
        log.warn(
          s"Operator ${state.operatorId} of ${state.checkpointLocation} partitions its input by " +
            s"(${shuffled.toDDL}) and stores keys as (${stored.toDDL}), whose hashes differ. It " +
            "runs as with Spark's own providers; new state of it cannot be rescaled " +
            "(KEYFOLD_RESCALE_PLACEMENT). Cast the columns to the types of the key to be able to " +
            "rescale it."
        )
      }
    }
  }
}
