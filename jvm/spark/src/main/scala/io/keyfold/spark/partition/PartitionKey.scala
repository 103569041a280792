package io.keyfold.spark.partition

import io.keyfold.model.{PartitionRule, StoreLocation}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{LongType, NullType, StructType}

/** The columns of the state key by which an operator partitions its input, which decide the
  * partition of a row.
  *
  * @param name
  *   as in files, docs/FORMAT.md section 4.3
  */
sealed abstract class PartitionKey(val name: String) {

  def newHash(): RowHash
}

object PartitionKey {

  /** Spark's `HashPartitioning` seed. */
  private val Seed = 42
  private val First = "first:(\\d+)".r
  private val Path = "path:(\\d+)(?:\\.(\\d+))?".r

  /** Rows of operators without a shuffle key: all in partition 0, for any number of partitions. */
  private case object Constant extends PartitionKey(PartitionRule.Constant) {
    override def newHash(): RowHash = _ => 0
  }

  /** The first `count` columns. */
  private final class Columns(name: String, key: StructType, count: Int)
      extends PartitionKey(name) {
    override def newHash(): RowHash = RowHash.ofColumns(key.take(count).map(_.dataType), Seed)
  }

  /** One column, or a field of one. */
  private final class Field(name: String, key: StructType, path: Seq[Int])
      extends PartitionKey(name) {
    override def newHash(): RowHash = RowHash.ofField(key, path, Seed)
  }

  /** The rule with this name, for keys of this schema. */
  def named(name: String, key: StructType): PartitionKey = name match {
    case PartitionRule.Constant => Constant
    case First(count)           => new Columns(name, key, count.toInt)
    case Path(i, null)          => new Field(name, key, Seq(i.toInt))
    case Path(i, j)             => new Field(name, key, Seq(i.toInt, j.toInt))
    case _                      => new Columns(name, key, key.length)
  }

  /** The rule of an operator's column family. Spark does not tell providers the operator, so store,
    * family and schemas decide.
    *
    * @param grouping
    *   key schema of the store's default family, which is the grouping key's schema in Scala's
    *   transformWithState
    */
  def of(
      store: String,
      family: String,
      spec: KeyStateEncoderSpec,
      value: StructType,
      grouping: StructType
  ): PartitionKey = {
    val key = spec.keySchema
    val joined = if (store == StoreLocation.DefaultStore) family else store
    val name =
      if (joined.startsWith("$")) ofInternal(joined, key, spec, grouping)
      else if (isJoinIndex(joined, key)) s"first:${key.length - 1}"
      else if (isJoinKeys(joined)) "all"
      else if (store != StoreLocation.DefaultStore) PartitionRule.NoRule
      else if (key.isEmpty || isGlobalLimit(key, value)) PartitionRule.Constant
      else ofSpec(spec)
    named(name, key)
  }

  private def ofSpec(spec: KeyStateEncoderSpec): String = spec match {
    case _: NoPrefixKeyStateEncoderSpec            => "all"
    case PrefixKeyScanStateEncoderSpec(_, columns) => s"first:$columns"
    case _                                         => PartitionRule.NoRule
  }

  /** Internal families of transformWithState, beside the state variables of users. */
  private def ofInternal(
      family: String,
      key: StructType,
      spec: KeyStateEncoderSpec,
      grouping: StructType
  ): String =
    if (family.startsWith("$ttl_") && key.length == 2) ofTtlIndex(key, grouping)
    else if (family.startsWith("$") && family.endsWith("_timestampToKey")) "path:1"
    else ofSpec(spec)

  /** (expirationMs, elementKey); elementKey is the grouping key or, for map state, (key, userKey).
    */
  private def ofTtlIndex(key: StructType, grouping: StructType): String = key(1).dataType match {
    case element: StructType if isMapKey(element) && element != grouping => "path:1.0"
    case _                                                               => "path:1"
  }

  private def isMapKey(element: StructType) =
    element.fieldNames.sameElements(Seq("key", "userKey")) &&
      element.forall(_.dataType.isInstanceOf[StructType])

  private def isJoinKeys(name: String) = name.matches("(left|right)-keyToNumValues")

  /** The join key, followed by the index of a value or its event time. */
  private def isJoinIndex(name: String, key: StructType) =
    name.matches("(left|right)-(keyWithIndexToValue|keyWithTsToValues|tsWithKey)") &&
      key.nonEmpty && key.last.dataType == LongType

  /** The single row of a streaming LIMIT. */
  private def isGlobalLimit(key: StructType, value: StructType) =
    key.length == 1 && key.head.dataType == NullType &&
      value.length == 1 && value.head.dataType == LongType
}
