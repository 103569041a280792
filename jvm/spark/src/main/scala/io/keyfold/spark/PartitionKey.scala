package io.keyfold.spark

import io.keyfold.store.{Placement, StoreLocation}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{LongType, NullType, StructType}

/** Which columns of the state key an operator partitions its input by, and so what decides where a
  * row lives. A provider is told only store name, schemas and encoder; that suffices.
  */
sealed abstract class PartitionKey {

  /** As files name it, docs/FORMAT.md section 4.3. */
  def name: String

  def newHash(): RowHash
}

object PartitionKey {

  /** Spark's `HashPartitioning` seed. */
  private val Seed = 42

  /** Rows of operators without a shuffle key: all in partition 0, at every number of partitions. */
  case object Constant extends PartitionKey {
    override val name = "constant"
    override def newHash(): RowHash = _ => 0
  }

  /** The first `count` columns; `name` says why. */
  final case class Columns(name: String, schema: StructType, count: Int) extends PartitionKey {
    override def newHash(): RowHash =
      new ColumnsHash(schema.fields.take(count).map(_.dataType).toSeq, Seed)
  }

  private val JoinKeyStores = Set("left-keyToNumValues", "right-keyToNumValues")
  private val JoinIndexStores = Set("left-keyWithIndexToValue", "right-keyWithIndexToValue")

  def of(
      store: String,
      key: StructType,
      value: StructType,
      spec: KeyStateEncoderSpec
  ): PartitionKey =
    (store, spec) match {
      case (StoreLocation.DefaultStore, _) if key.isEmpty || isGlobalLimit(key, value) => Constant
      case (StoreLocation.DefaultStore, _: NoPrefixKeyStateEncoderSpec)                => all(key)
      case (StoreLocation.DefaultStore, PrefixKeyScanStateEncoderSpec(_, columns))     =>
        first(key, columns)
      case (name, _) if JoinKeyStores(name)   => all(key)
      case (name, _) if JoinIndexStores(name) => first(key, key.length - 1)
      case _                                  => Columns(Placement.NoRule, key, key.length)
    }

  private def all(key: StructType) = Columns("all", key, key.length)
  private def first(key: StructType, columns: Int) = Columns(s"first:$columns", key, columns)

  /** The one row of a streaming LIMIT. */
  private def isGlobalLimit(key: StructType, value: StructType) =
    key.length == 1 && key.head.dataType == NullType &&
      value.length == 1 && value.head.dataType == LongType
}
