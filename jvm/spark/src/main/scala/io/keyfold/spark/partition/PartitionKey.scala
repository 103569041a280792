package io.keyfold.spark.partition

import io.keyfold.model.{PartitionRule, StoreLocation}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{LongType, NullType, StructType}

/** The columns of the state key by which an operator partitions its input, which decide the
  * partition of a row.
  *
  * @param name
  *   as in files, docs/FORMAT.md section 4.3
  * @param key
  *   schema of the keys
  */
final case class PartitionKey(name: String, key: StructType) {
  import PartitionKey._

  def newHash(): RowHash = name match {
    case As("all", columns)         => computed(columns)
    case As(First("1"), columns)    => computed(columns, 0)
    case As(Path(i, null), columns) => computed(columns, i.toInt)
    case As(Path(i, j), columns)    => computed(columns, i.toInt, j.toInt)
    // Rows of operators without a shuffle key: all in partition 0, for any number of partitions.
    case PartitionRule.Constant => _ => 0
    case First(count)           => ofColumns(count.toInt)
    case Path(i, null)          => RowHash.ofField(key, Seq(i.toInt), Seed)
    case Path(i, j)             => RowHash.ofField(key, Seq(i.toInt, j.toInt), Seed)
    case _                      => ofColumns(key.length)
  }

  private def ofColumns(count: Int) = RowHash.ofColumns(key.take(count).map(_.dataType), Seed)

  /** Of the grouping key, of which Spark shuffles by other values than are stored. */
  private def computed(columns: String, path: Int*) =
    ShuffledKey.named(columns).newHash(key, path, Seed)
}

object PartitionKey {

  /** Spark's `HashPartitioning` seed. */
  private val Seed = 42
  private val First = "first:(\\d+)".r
  private val TtlIndex = "$ttl_"
  private val As = "([^ ]+) as ([^ ]+)".r
  private val Path = "path:(\\d+)(?:\\.(\\d+))?".r

  /** The same hash, of keys that begin with these columns; None if these do not tell it. */
  def ofPrefix(name: String, prefix: StructType): Option[PartitionKey] = {
    val needed = name match {
      case First(count)      => Some(count.toInt)
      case As(First("1"), _) => Some(1)
      case _                 => None
    }
    needed.filter(_ <= prefix.length).map(_ => PartitionKey(name, prefix))
  }

  /** Whether two rules are of input that is partitioned by the same columns. */
  def haveSameShuffle(a: String, b: String): Boolean = {
    def computed(name: String) = name match {
      case As(_, columns) => Some(columns)
      case _              => None
    }
    computed(a) == computed(b)
  }

  /** Whether two rules are of the same columns of the key, by whatever those are computed. */
  def haveSameColumns(a: String, b: String): Boolean =
    a.takeWhile(_ != ' ') == b.takeWhile(_ != ' ')

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
  )(isLimit: => Boolean, isMap: String => Boolean): PartitionKey = {
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
    PartitionKey(shuffled.filter(_ => isPlaced).fold(name)(it => s"$name as $it"), key)
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
