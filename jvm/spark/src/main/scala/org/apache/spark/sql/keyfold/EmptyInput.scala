package org.apache.spark.sql.keyfold

import scala.collection.mutable

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streaming.{GroupStateTimeout, StreamingQuery, Trigger}
import org.apache.spark.sql.{classic, DataFrame, Encoder, Row}

/** A streaming query over sources that have no rows. */
object EmptyInput {

  /** What a run has shown of a query.
    *
    * @param aggregations
    *   those that it has
    * @param sources
    *   how Spark names each use of a source, as far as it is known
    * @param distinct
    *   number of sources; one may be used twice
    * @param timeouts
    *   of mapGroupsWithState, by operator
    */
  final case class Planned(
      aggregations: Seq[PlannedAggregation],
      sources: Seq[String],
      distinct: Int,
      timeouts: Map[Long, String]
  )

  /** Runs the query's first batch, without rows; what it puts out is dropped.
    *
    * @param withInitialState
    *   whether operators get the state that the query gives them in its first batch
    * @throws org.apache.spark.sql.AnalysisException
    *   if Spark refuses the query
    */
  def run(
      query: DataFrame,
      outputMode: String,
      checkpoint: String,
      withInitialState: Boolean
  ): Planned = {
    val frame = query.asInstanceOf[classic.Dataset[Row]]
    val sources = mutable.LinkedHashMap.empty[LogicalPlan, LogicalPlan]
    // A relation that is used twice is so here too, as Spark has an offset for each use.
    val plan = frame.logicalPlan.transformUp {
      case reference: CTERelationRef              => reference
      case source: LeafNode if source.isStreaming =>
        val its = sources.getOrElseUpdate(source, empty(frame.sparkSession, source))
        Project(
          source.output.zip(its.output).map { case (wanted, it) =>
            Alias(it, wanted.name)(wanted.exprId, wanted.qualifier, Some(wanted.metadata))
          },
          its
        )
      case it if !withInitialState && HaveInitialState(it.nodeName) =>
        val (rows, state) = (it.children.head, it.children.last)
        it.withNewChildren(Seq(rows, LocalRelation(state.output)))
    }
    val timed = classic.Dataset.ofRows(frame.sparkSession, withTimes(plan))
    val sinceUs = System.currentTimeMillis * 1000
    val running = begin(timed, outputMode, checkpoint)
    try {
      running.awaitTermination()
      val its = running.asInstanceOf[SparkShim.QueryWrapper]
      val aggregations = PlannedAggregation.of(its, sinceUs)
      val uses = frame.logicalPlan.collect {
        case it: LeafNode if it.isStreaming && !it.isInstanceOf[CTERelationRef] => nameOf(it)
      }
      Planned(aggregations, uses, sources.size, timeoutsOf(its))
    } finally running.stop()
  }

  /** Scala and Python have a class each, and what these have in common does not show it. */
  private def timeoutsOf(query: SparkShim.QueryWrapper): Map[Long, String] =
    query.streamingQuery.lastExecution.executedPlan
      .collect { case it: SparkShim.StateStoreWriter =>
        it.productIterator.collectFirst { case timeout: GroupStateTimeout =>
          it.stateInfo.get.operatorId -> timeout.toString
        }
      }
      .flatten
      .toMap

  /** The same query, which computes its dates and local times from the batch's time. Spark makes
    * constants of them: a time to the millisecond is known for the batch's, a date could be one
    * that the query has.
    */
  private def withTimes(plan: LogicalPlan) = plan.transformAllExpressions {
    case it @ (_: CurrentDate | _: LocalTimestamp) =>
      val zone = it.asInstanceOf[TimeZoneAwareExpression].timeZoneId
      val cast = Cast(CurrentTimestamp(), it.dataType, zone)
      // Else its text is that of the time.
      cast.setTagValue(Cast.USER_SPECIFIED_CAST, ())
      cast
  }

  /** Its format, and what it reads; no other options, which may be secret. */
  private def nameOf(source: LeafNode) = {
    val name = source match {
      case it: StreamingRelationV2 =>
        val options = WhatIsRead.flatMap(key => Option(it.extraOptions.get(key)))
        (it.sourceName +: options).mkString(" ")
      case other => other.toString.linesIterator.next()
    }
    name.take(LongestName)
  }

  private val WhatIsRead =
    Seq("path", "subscribe", "subscribePattern", "assign", "topic", "table", "dbtable", "host")
  private val LongestName = 200

  /** Operators with the state that they begin with as their second input. */
  private val HaveInitialState = Set(
    "FlatMapGroupsWithState",
    "TransformWithState",
    "TransformWithStateInPandas",
    "TransformWithStateInPySpark"
  )

  private def empty(session: classic.SparkSession, source: LogicalPlan) = {
    implicit val encoder: Encoder[Row] =
      ExpressionEncoder(DataTypeUtils.fromAttributes(source.output))
    val stream = SparkShim.MemoryStream[Row](session)
    stream.addData(Nil)
    stream.toDF().asInstanceOf[classic.Dataset[Row]].logicalPlan
  }

  // Of all triggers only this one is for one batch, whatever the query wants to do after it.
  @annotation.nowarn("cat=deprecation")
  private def begin(frame: DataFrame, outputMode: String, checkpoint: String): StreamingQuery =
    frame.writeStream
      .format("noop")
      .outputMode(outputMode)
      .option("checkpointLocation", checkpoint)
      .trigger(Trigger.Once())
      .start()
}
