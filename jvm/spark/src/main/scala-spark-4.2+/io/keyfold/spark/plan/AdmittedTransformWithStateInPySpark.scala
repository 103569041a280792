package io.keyfold.spark.plan

import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec

/** The operator for Python, for pandas and rows. */
private final class AdmittedTransformWithStateInPySpark(
    @transient override protected val original: TransformWithStateInPySparkExec
) extends TransformWithStateInPySparkExec(
      original.functionExpr,
      original.groupingAttributes,
      original.output,
      original.outputMode,
      original.timeMode,
      original.stateInfo,
      original.batchTimestampMs,
      original.prevBatchTimestampMs,
      original.eventTimeWatermarkForLateEvents,
      original.eventTimeWatermarkForEviction,
      original.userFacingDataType,
      original.child,
      original.isStreaming,
      original.hasInitialState,
      original.initialState,
      original.initialStateGroupingAttrs,
      original.initialStateSchema
    )
    with Admitted[TransformWithStateInPySparkExec] {
  override protected def admitted(
      plan: TransformWithStateInPySparkExec
  ): TransformWithStateInPySparkExec =
    new AdmittedTransformWithStateInPySpark(plan)
}
