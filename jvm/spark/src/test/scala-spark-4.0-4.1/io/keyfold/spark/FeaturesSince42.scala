package io.keyfold.spark

import scala.annotation.unused

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec
import org.apache.spark.sql.types.StructType

/** What these lines lack. */
trait FeaturesSince42 {
  val rowChecksums = false
  val newCheckpointFormat = false
  val stateReaderCountsPartitions = false

  def timestampSpecs(
      @unused schema: StructType
  ): Option[(KeyStateEncoderSpec, KeyStateEncoderSpec)] = None

  def extractedKey(
      @unused family: String,
      @unused schema: StructType,
      @unused key: UnsafeRow,
      @unused kind: Enumeration#Value,
      @unused ttl: Boolean
  ): Option[(StructType, UnsafeRow)] = None
}
