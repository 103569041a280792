package io.keyfold.spark.partition

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** The columns by which Spark partitions an operator's input, where they are other values than
  * those of the stored key but can be computed from them.
  *
  * @param columns
  *   in the order of the shuffle: the stored key's field, and the type that it had, if another
  */
final case class ShuffledKey(columns: Seq[ShuffledKey.Column]) {
  import ShuffledKey._

  /** Whether these are the stored key's own, in its order. */
  def isStored: Boolean = columns.zipWithIndex.forall { case (it, i) => it == Column(i, None) }

  /** As in the partition keys of files, docs/FORMAT.md section 4.3: `1;0:integer`. */
  override def toString: String = columns
    .map {
      case Column(field, None)        => s"$field"
      case Column(field, Some(type_)) => s"$field:${type_.typeName}"
    }
    .mkString(";")

  /** The hash of keys with this schema.
    *
    * @param path
    *   of the struct in the stored key that has the grouping key; empty: it is the key
    */
  private[partition] def newHash(key: StructType, path: Seq[Int], seed: Int): RowHash = {
    val values = columns.map { column =>
      val field = fieldOf(key, path :+ column.field)
      column.as.fold(field)(Cast(field, _, None, EvalMode.TRY))
    }
    val hash = RowHash.ofColumns(values.map(_.dataType), seed)
    val shuffled = UnsafeProjection.create(values)
    row => hash(shuffled(row))
  }
}

object ShuffledKey {
  final case class Column(field: Int, as: Option[DataType])

  private val Integers = Set[DataType](ByteType, ShortType, IntegerType, LongType)
  private val Named = "(\\d+)(?::(.+))?".r

  /** Reads what `toString` has written. */
  def named(name: String): ShuffledKey = ShuffledKey(name.split(';').toSeq.map {
    case Named(field, null)  => Column(field.toInt, None)
    case Named(field, type_) => Column(field.toInt, Some(DataType.fromJson(s""""$type_"""")))
    case other => throw new IllegalArgumentException(s"$other names no column of a key")
  })

  /** How the columns that are shuffled by can be computed from the stored key, if they can.
    *
    * @param byName
    *   whether the key's fields are matched with the columns by their names, else by their order
    */
  def of(shuffled: StructType, stored: StructType, byName: Boolean): Option[ShuffledKey] = {
    val (left, right) = (namesOf(shuffled), namesOf(stored))
    val fields = if (byName && left.length > 1) left.map(right.indexOf(_)) else left.indices
    val columns = shuffled.zip(fields).flatMap { case (column, field) =>
      stored.lift(field).map(_.dataType).flatMap { type_ =>
        if (isAsStored(column.dataType, type_)) Some(Column(field, None))
        else if (isWidened(column.dataType, type_)) Some(Column(field, Some(column.dataType)))
        else None
      }
    }
    val isWhole = columns.map(_.field).distinct.length == stored.length
    Option.when(isWhole && shuffled.length == stored.length)(ShuffledKey(columns))
  }

  /** Whether a value that is shuffled by has the same hash as the stored one. */
  def isAsStored(shuffled: DataType, stored: DataType): Boolean = (shuffled, stored) match {
    case (a: StructType, b: StructType) =>
      val (left, right) = (namesOf(a), namesOf(b))
      val isReordered = left != right && left.sorted == right.sorted
      a.length == b.length && !isReordered && a.zip(b).forall { case (x, y) =>
        isAsStored(x.dataType, y.dataType)
      }
    case (a: ArrayType, b: ArrayType) => isAsStored(a.elementType, b.elementType)
    case (a: MapType, b: MapType)     =>
      isAsStored(a.keyType, b.keyType) && isAsStored(a.valueType, b.valueType)
    case _ => shuffled == stored
  }

  /** Whether each value comes back exactly. */
  private def isWidened(from: DataType, to: DataType) = (from, to) match {
    case (FloatType, DoubleType)               => true
    case (_: DecimalType, _: DecimalType)      => Cast.canUpCast(from, to)
    case (_, _: DecimalType) if Integers(from) => Cast.canUpCast(from, to)
    case _ => Integers(from) && Integers(to) && Cast.canUpCast(from, to)
  }

  private def fieldOf(key: StructType, path: Seq[Int]): Expression = {
    val column: Expression = BoundReference(path.head, key(path.head).dataType, nullable = true)
    path.tail.foldLeft(column)(GetStructField(_, _))
  }

  private def namesOf(struct: StructType) =
    struct.fieldNames.toSeq.map(_.toLowerCase(java.util.Locale.ROOT))
}
