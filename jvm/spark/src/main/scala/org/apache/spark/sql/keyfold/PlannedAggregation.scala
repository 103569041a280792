package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, Literal}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.RDDScanExec
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.sql.{classic, Column, DataFrame}
import org.apache.spark.sql.functions.{col, expr, struct}

/** An aggregation of a streaming query, as Spark has planned it: the values of its state end with
  * the buffers of its aggregates.
  *
  * @param operator
  *   its number in the query
  * @param save
  *   name of the operator that writes the state
  * @param partial
  *   what aggregates rows of the input
  * @param merge
  *   what merges that with the state
  * @param sinceUs
  *   when the query was started, in microseconds since 1970
  */
final class PlannedAggregation private (
    val operator: Long,
    save: String,
    partial: BaseAggregateExec,
    merge: BaseAggregateExec,
    sinceUs: Long
) {
  import PlannedAggregation._

  private val definitions = new Definitions(partial, sinceUs)

  /** In the order in which the state has their buffers. */
  val aggregates: Seq[Aggregate] = partial.aggregateExpressions.map { it =>
    val function = it.aggregateFunction
    Aggregate(
      definitions.text(it),
      kindOf(function),
      function.children.map(_.dataType),
      function.aggBufferAttributes.map(_.name),
      needsOrder(function),
      initialOf(function)
    )
  }

  /** By what it groups, in the order in which the state has the columns of the key: name in the
    * state, and expression.
    */
  val keys: Seq[(String, String)] =
    partial.groupingExpressions.map(it => it.name -> definitions.text(it))

  /** Whether it has sessions, of which the values of the state have the key too. */
  def isSession: Boolean = save != Save

  /** Rows of the state in which each key is there once: values of the same key are merged as Spark
    * merges what its tasks have aggregated.
    *
    * @param rows
    *   the columns `key` and `value` of the state
    */
  def merged(rows: DataFrame): DataFrame = {
    val session = rows.sparkSession.asInstanceOf[classic.SparkSession]
    val count = merge.groupingExpressions.length
    // Without keys each partition would have a row.
    val dealt = if (count == 0) rows.coalesce(1) else rows.repartition(col("key"))
    val flat = dealt.sortWithinPartitions(col("key")).select(col("key.*"), col("value.*"))
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
      frame.select(structOf(names.take(count), "key"), structOf(names.drop(count), "value"))
    }
  }
}

object PlannedAggregation {

  /** @param text
    *   as in a query, such as `sum(delay)`
    * @param kind
    *   what the text does not say of what it computes
    * @param types
    *   of what it aggregates
    * @param buffers
    *   names of its columns in the values of the state
    * @param needsOrder
    *   whether the order of its rows counts
    * @param initial
    *   its buffers of a key that has no rows yet
    */
  final case class Aggregate(
      text: String,
      kind: String,
      types: Seq[DataType],
      buffers: Seq[String],
      needsOrder: Boolean,
      initial: Seq[Column]
  )

  private val Save = "stateStoreSave"
  private val Saves = Set(Save, "sessionWindowStateStoreSaveExec")

  /** Of a query that has run a batch since a time in microseconds since 1970. */
  def of(query: SparkShim.QueryWrapper, sinceUs: Long): Seq[PlannedAggregation] =
    query.streamingQuery.lastExecution.executedPlan.collect {
      case it: SparkShim.StateStoreWriter if Saves(it.shortName) =>
        val below = it.children.head
        val merge = below.collectFirst { case merge: BaseAggregateExec => merge }
        val partial = below.collectFirst {
          case partial: BaseAggregateExec
              if partial.aggregateExpressions.forall(_.mode == Partial) =>
            partial
        }
        new PlannedAggregation(
          it.stateInfo.get.operatorId,
          it.shortName,
          partial.get,
          merge.get,
          sinceUs
        )
    }

  /** Its class and what it was told, such as a precision. */
  private def kindOf(function: AggregateFunction): String = {
    val told = function.productIterator.collect {
      case it @ (_: Boolean | _: Double | _: String) => it.toString
      case it: ExpressionEncoder[_]                  => it.schema.json
      case it: AnyRef if !it.isInstanceOf[Expression] && !it.isInstanceOf[Iterable[_]] =>
        it.getClass.getName
    }
    (function.getClass.getName +: told.toSeq).mkString(" ")
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
