package org.apache.spark.sql.keyfold

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec

/** The operator for Python, for pandas and rows. */
private[keyfold] final class AdmittedTransformWithStateInPySpark(p: TransformWithStateInPySparkExec)
    extends TransformWithStateInPySparkExec(
      p.functionExpr,
      p.groupingAttributes,
      p.output,
      p.outputMode,
      p.timeMode,
      p.stateInfo,
      p.batchTimestampMs,
      p.prevBatchTimestampMs,
      p.eventTimeWatermarkForLateEvents,
      p.eventTimeWatermarkForEviction,
      p.userFacingDataType,
      p.child,
      p.isStreaming,
      p.hasInitialState,
      p.initialState,
      p.initialStateGroupingAttrs,
      p.initialStateSchema
    )
    with Admitted {
  copyTagsFrom(p)

  override def makeCopy(args: Array[AnyRef]): SparkPlan = again(copy().makeCopy(args))

  override protected def withNewChildrenInternal(
      left: SparkPlan,
      right: SparkPlan
  ): TransformWithStateInPySparkExec = again(super.withNewChildrenInternal(left, right))

  private def again(plan: SparkPlan) = {
    plan.copyTagsFrom(this)
    new AdmittedTransformWithStateInPySpark(plan.asInstanceOf[TransformWithStateInPySparkExec])
  }
}
