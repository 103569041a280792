package io.keyfold.spark.plan

import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec

/** The operator for Scala and Java. */
private final class AdmittedTransformWithState(
    @transient override protected val original: TransformWithStateExec
) extends TransformWithStateExec(
      original.keyDeserializer,
      original.valueDeserializer,
      original.groupingAttributes,
      original.dataAttributes,
      original.statefulProcessor,
      original.timeMode,
      original.outputMode,
      original.keyEncoder,
      original.outputObjAttr,
      original.stateInfo,
      original.batchTimestampMs,
      original.prevBatchTimestampMs,
      original.eventTimeWatermarkForLateEvents,
      original.eventTimeWatermarkForEviction,
      original.child,
      original.isStreaming,
      original.isRealTimeMode,
      original.hasInitialState,
      original.initialStateGroupingAttrs,
      original.initialStateDataAttrs,
      original.initialStateDeserializer,
      original.initialState
    )
    with Admitted[TransformWithStateExec] {
  override protected def admitted(plan: TransformWithStateExec): TransformWithStateExec =
    new AdmittedTransformWithState(plan)
}
