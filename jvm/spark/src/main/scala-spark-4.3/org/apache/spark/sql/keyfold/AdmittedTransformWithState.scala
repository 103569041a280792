package org.apache.spark.sql.keyfold

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec

/** The operator for Scala and Java. */
private[keyfold] final class AdmittedTransformWithState(p: TransformWithStateExec)
    extends TransformWithStateExec(
      p.keyDeserializer,
      p.valueDeserializer,
      p.groupingAttributes,
      p.dataAttributes,
      p.statefulProcessor,
      p.timeMode,
      p.outputMode,
      p.keyEncoder,
      p.outputObjAttr,
      p.stateInfo,
      p.batchTimestampMs,
      p.prevBatchTimestampMs,
      p.eventTimeWatermarkForLateEvents,
      p.eventTimeWatermarkForEviction,
      p.child,
      p.isStreaming,
      p.isRealTimeMode,
      p.hasInitialState,
      p.initialStateGroupingAttrs,
      p.initialStateDataAttrs,
      p.initialStateDeserializer,
      p.initialState
    )
    with Admitted {
  copyTagsFrom(p)

  override def makeCopy(args: Array[AnyRef]): SparkPlan = again(copy().makeCopy(args))

  override protected def withNewChildrenInternal(
      left: SparkPlan,
      right: SparkPlan
  ): TransformWithStateExec = again(super.withNewChildrenInternal(left, right))

  private def again(plan: SparkPlan) = {
    plan.copyTagsFrom(this)
    new AdmittedTransformWithState(plan.asInstanceOf[TransformWithStateExec])
  }
}
