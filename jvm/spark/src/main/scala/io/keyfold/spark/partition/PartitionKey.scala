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
  private val TtlIndex = "$ttl_"
  private val As = "([^ ]+) as ([^ ]+)".r
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

  /** The grouping key, of which Spark shuffles by other values than are stored. */
  private final class Computed(
      name: String,
      key: StructType,
      path: Seq[Int],
      shuffled: ShuffledKey
  ) extends PartitionKey(name) {
    override def newHash(): RowHash = shuffled.newHash(key, path, Seed)
  }

  /** The rule with this name, for keys of this schema. */
  def named(name: String, key: StructType): PartitionKey = name match {
    case As("all", columns)         => new Computed(name, key, Nil, ShuffledKey.named(columns))
    case As(First("1"), columns)    => new Computed(name, key, Seq(0), ShuffledKey.named(columns))
    case As(Path(i, null), columns) =>
      new Computed(name, key, Seq(i.toInt), ShuffledKey.named(columns))
    case As(Path(i, j), columns) =>
      new Computed(name, key, Seq(i.toInt, j.toInt), ShuffledKey.named(columns))
    case PartitionRule.Constant => Constant
    case First(count)           => new Columns(name, key, count.toInt)
    case Path(i, null)          => new Field(name, key, Seq(i.toInt))
    case Path(i, j)             => new Field(name, key, Seq(i.toInt, j.toInt))
    case _                      => new Columns(name, key, key.length)
  }

  /** The same hash, of keys that begin with these columns; None if these do not tell it. */
  def ofPrefix(name: String, prefix: StructType): Option[PartitionKey] = {
    val needed = name match {
      case First(count)      => Some(count.toInt)
      case As(First("1"), _) => Some(1)
      case _                 => None
    }
    needed.filter(_ <= prefix.length).map(_ => named(name, prefix))
  }

  /** Whether two rules are of input that is partitioned by the same columns. */
  def haveSameShuffle(a: String, b: String): Boolean = {
    def computed(name: String) = name match {
      case As(_, columns) => Some(columns)
      case _              => None
    }
    computed(a) == computed(b)
  }

  /** The rule of an operator's column family, by its store, name and key.
    *
    * @param shuffled
    *   by what Spark partitions the operator's input, if that is to be computed
    * @param isLimit
    *   whether the operator is a streaming LIMIT; asked only if the key leaves it open
    * @param isMap
    *   whether a variable of transformWithState is a map
    */
  def of(
      store: String,
      family: String,
      spec: KeyStateEncoderSpec,
      shuffled: Option[ShuffledKey] = None
  )(
      isLimit: => Boolean,
      isMap: String => Boolean
  ): PartitionKey = {
    val key = spec.keySchema
    val joined = if (store == StoreLocation.DefaultStore) family else store
    val name =
      if (joined.startsWith(TtlIndex) && isMap(joined.stripPrefix(TtlIndex))) "path:1.0"
      else if (joined.startsWith(TtlIndex)) "path:1"
      else if (joined.startsWith("$") && joined.endsWith("_timestampToKey")) "path:1"
      else if (isJoinIndex(joined, key)) s"first:${key.length - 1}"
      else if (isJoinKeys(joined)) "all"
      else if (store != StoreLocation.DefaultStore) PartitionRule.NoRule
      else if (key.isEmpty || (isNothing(key) && isLimit)) PartitionRule.Constant
      else ofSpec(spec)
    val isPlaced = name != PartitionRule.NoRule && name != PartitionRule.Constant
    named(shuffled.filter(_ => isPlaced).fold(name)(it => s"$name as $it"), key)
  }

  /** The family with the times at which the values of a variable expire: (expirationMs,
    * elementKey). An elementKey is the grouping key or, if the variable is a map, (key, userKey).
    */
  def ttlIndexOf(variable: String): String = TtlIndex + variable

  private def ofSpec(spec: KeyStateEncoderSpec): String = spec match {
    case _: NoPrefixKeyStateEncoderSpec            => "all"
    case PrefixKeyScanStateEncoderSpec(_, columns) => s"first:$columns"
    case _                                         => PartitionRule.NoRule
  }

  private def isJoinKeys(name: String) = name.matches("(left|right)-keyToNumValues")

  /** The join key, followed by the index of a value or its event time. */
  private def isJoinIndex(name: String, key: StructType) =
    name.matches("(left|right)-(keyWithIndexToValue|keyWithTsToValues|tsWithKey)") &&
      key.nonEmpty && key.last.dataType == LongType

  /** The key of a streaming LIMIT, and of an operator that groups by a column that has no values.
    */
  private def isNothing(key: StructType) = key.length == 1 && key.head.dataType == NullType
}
