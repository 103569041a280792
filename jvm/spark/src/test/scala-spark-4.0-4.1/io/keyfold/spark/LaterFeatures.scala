package io.keyfold.spark

import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec
import org.apache.spark.sql.types.StructType

/** What these lines lack of later ones. */
object LaterFeatures {
  val rowChecksums = false

  def timestampSpecs(schema: StructType): Option[(KeyStateEncoderSpec, KeyStateEncoderSpec)] = None
}
