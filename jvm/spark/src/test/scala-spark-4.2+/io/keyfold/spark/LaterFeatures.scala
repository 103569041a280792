package io.keyfold.spark

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate._
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** What older lines lack, for tests that they cannot run. */
object LaterFeatures extends FeaturesSince41 {
  val rowChecksums = true

  /** Whether a query may change the version of its checkpoint's format. */
  val newCheckpointFormat = true

  /** Whether the state reader asks for the partitions of the batch that it reads. */
  val stateReaderCountsPartitions = true

  /** Encoders of keys with the event time ahead of the other columns and behind them. */
  def timestampSpecs(schema: StructType): Option[(KeyStateEncoderSpec, KeyStateEncoderSpec)] =
    Some(
      (TimestampAsPrefixKeyStateEncoderSpec(schema), TimestampAsPostfixKeyStateEncoderSpec(schema))
    )

  /** Schema and row of the partition key that Spark finds in a key of transformWithState's state.
    *
    * @param kind
    *   of the state variable, a `StateVariableType`
    * @param ttl
    *   whether it expires
    */
  def extractedKey(
      family: String,
      schema: StructType,
      key: UnsafeRow,
      kind: Enumeration#Value,
      ttl: Boolean
  ): Option[(StructType, UnsafeRow)] = {
    val name = family.stripPrefix("$ttl_").stripPrefix("$min_").stripPrefix("$count_")
    val info = TransformWithStateVariableInfo(name, StateVariableType(kind.id), ttl)
    val extractor =
      TransformWithStatePartitionKeyExtractorFactory.create("default", family, schema, info)
    Some((extractor.partitionKeySchema, extractor.partitionKey(key)))
  }
}
