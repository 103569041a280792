package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, Literal}
import org.apache.spark.sql.catalyst.util.toPrettySQL
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.RDDScanExec
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.{classic, Column, DataFrame}
import org.apache.spark.sql.functions.{col, expr, struct}

/** An aggregation of a streaming query, as Spark has planned it: the values of its state end with
  * the buffers of its aggregates.
  *
  * @param operator
  *   its number in the query
  */
final class PlannedAggregation private (
    val operator: Long,
    save: String,
    merge: BaseAggregateExec
) {
  import PlannedAggregation._

  /** In the order in which the state has their buffers. */
  val aggregates: Seq[Aggregate] =
    merge.aggregateExpressions.map(_.aggregateFunction).map { function =>
      val names = function.aggBufferAttributes.map(_.name)
      Aggregate(toPrettySQL(function), names, needsOrder(function), initialOf(function))
    }

  /** Whether rows of several keys can become one. Sessions would have to be found anew. */
  def canMerge: Boolean = save == Save

  /** Rows of the state in which each key is there once: values of the same key are merged as Spark
    * merges what its tasks have aggregated.
    *
    * @param rows
    *   the columns `key` and `value` of the state
    */
  def merged(rows: DataFrame): DataFrame = {
    val session = rows.sparkSession.asInstanceOf[classic.SparkSession]
    val sorted = rows.repartition(col("key")).sortWithinPartitions(col("key"))
    val flat = sorted.select(col("key.*"), col("value.*"))
    val keys = merge.groupingExpressions.length
    session.withActive {
      val scan = RDDScanExec(merge.children.head.output, SparkRows.of(flat), "state")
      val merging = merge.withNewChildren(Seq(scan))
      val names = merging.output.indices.map(number => s"c$number")
      val columns = names.zip(merging.output).map { case (name, it) =>
        StructField(name, it.dataType)
      }
      val frame = SparkRows.frame(session, merging.execute(), StructType(columns))
      def structOf(of: Seq[String], column: String): Column =
        struct(of.map(col): _*).cast(rows.schema(column).dataType).as(column)
      frame.select(structOf(names.take(keys), "key"), structOf(names.drop(keys), "value"))
    }
  }
}

object PlannedAggregation {

  /** @param text
    *   as in a query, such as `sum(delay)`
    * @param buffers
    *   names of its columns in the values of the state
    * @param needsOrder
    *   whether the order of rows counts
    * @param initial
    *   its buffers of a key that has no rows yet
    */
  final case class Aggregate(
      text: String,
      buffers: Seq[String],
      needsOrder: Boolean,
      initial: Seq[Column]
  )

  private val Save = "stateStoreSave"
  private val Saves = Set(Save, "sessionWindowStateStoreSaveExec")

  /** Of a query that has run a batch. */
  def of(query: SparkShim.QueryWrapper): Seq[PlannedAggregation] =
    query.streamingQuery.lastExecution.executedPlan.collect {
      case it: SparkShim.StateStoreWriter if Saves(it.shortName) =>
        val merge = it.children.head.collectFirst { case merge: BaseAggregateExec => merge }
        new PlannedAggregation(it.stateInfo.get.operatorId, it.shortName, merge.get)
    }

  private def needsOrder(function: AggregateFunction) = function match {
    case _: First | _: Last => true
    case _                  => false
  }

  private def initialOf(function: AggregateFunction): Seq[Column] = {
    val types = function.aggBufferAttributes.map(_.dataType)
    val values: Seq[Any] = function match {
      case it: DeclarativeAggregate => it.initialValues.map(_.eval())
      case it: ImperativeAggregate  =>
        val buffer = new GenericInternalRow(types.length)
        val own = it.withNewMutableAggBufferOffset(0)
        own.initialize(buffer)
        own match {
          case typed: TypedImperativeAggregate[_] => typed.serializeAggregateBufferInPlace(buffer)
          case _                                  => ()
        }
        buffer.toSeq(types)
      case other => throw new IllegalArgumentException(s"$other is no aggregate of Spark's")
    }
    values.zip(types).map { case (value, of) => expr(Literal.create(value, of).sql) }
  }
}
