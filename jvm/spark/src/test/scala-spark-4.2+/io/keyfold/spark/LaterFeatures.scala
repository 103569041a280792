package io.keyfold.spark

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** What older lines lack, for tests that they cannot run. */
object LaterFeatures {
  val rowChecksums = true

  /** Encoders of keys with the event time ahead of the other columns and behind them. */
  def timestampSpecs(schema: StructType): Option[(KeyStateEncoderSpec, KeyStateEncoderSpec)] =
    Some(
      (TimestampAsPrefixKeyStateEncoderSpec(schema), TimestampAsPostfixKeyStateEncoderSpec(schema))
    )
}
