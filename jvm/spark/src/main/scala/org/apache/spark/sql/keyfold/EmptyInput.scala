package org.apache.spark.sql.keyfold

import scala.collection.mutable

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationRef, LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.apache.spark.sql.{classic, DataFrame, Encoder, Row}

/** A streaming query over sources that have no rows. */
object EmptyInput {

  /** Runs the query's first batch, without rows; what it puts out is dropped.
    *
    * @return
    *   its aggregations
    * @throws org.apache.spark.sql.AnalysisException
    *   if Spark refuses the query
    */
  def run(query: DataFrame, outputMode: String, checkpoint: String): Seq[PlannedAggregation] = {
    val frame = query.asInstanceOf[classic.Dataset[Row]]
    val sources = mutable.HashMap.empty[LogicalPlan, LogicalPlan]
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
    }
    val running = begin(classic.Dataset.ofRows(frame.sparkSession, plan), outputMode, checkpoint)
    try {
      running.awaitTermination()
      PlannedAggregation.of(running.asInstanceOf[SparkShim.QueryWrapper])
    } finally running.stop()
  }

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
