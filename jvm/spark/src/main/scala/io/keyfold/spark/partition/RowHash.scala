package io.keyfold.spark.partition

import org.apache.spark.sql.catalyst.expressions.{Murmur3HashFunction, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/** The partition hash of a row's key. An instance serves one thread. */
trait RowHash {
  def apply(key: UnsafeRow): Int
}

object RowHash {

  /** @param columns
    *   the types of the leading columns, which are hashed
    */
  def ofColumns(columns: Seq[DataType], seed: Int): RowHash = new ColumnsHash(columns, seed)

  /** @param path
    *   index of a column, then, for a field of a struct, the index of the field, and so on
    */
  def ofField(schema: StructType, path: Seq[Int], seed: Int): RowHash = {
    val hash = ColumnHash.ofField(schema, path)
    row => if (row.isNullAt(path.head)) seed else hash.of(row, path.head, seed)
  }
}

/** The hash that Spark's `HashPartitioning` computes for the first columns of a row: each column's
  * hash is the seed of the next, and nulls are skipped (`org.apache.spark.sql.catalyst.expressions.
  * HashExpression`). Spark's generated code takes milliseconds to obtain, and every batch needs
  * one; this class needs no set-up.
  *
  * @param columns
  *   the types of these columns, in order
  */
private final class ColumnsHash(columns: Seq[DataType], seed: Int) extends RowHash {
  private val hashes = columns.map(ColumnHash.of).toArray

  override def apply(row: UnsafeRow): Int = of(row, seed)

  def of(row: UnsafeRow, seed: Int): Int = {
    var hash = seed
    var i = 0
    while (i < hashes.length) {
      if (!row.isNullAt(i)) hash = hashes(i).of(row, i, hash)
      i += 1
    }
    hash
  }
}

/** Hash of one non-null column. */
private abstract class ColumnHash {
  def of(row: UnsafeRow, column: Int, seed: Int): Int
}

private object ColumnHash {

  /** The hash of a column or field of rows with this schema. */
  def ofField(schema: StructType, path: Seq[Int]): ColumnHash =
    (path, schema(path.head).dataType) match {
      case (Seq(_), column)                 => of(column)
      case (_ +: inner, struct: StructType) => new OfField(struct, inner)
      case (_, other) => throw new IllegalArgumentException(s"$other has no field ${path(1)}")
    }

  def of(dataType: DataType): ColumnHash = dataType match {
    case BooleanType                                                          => OfBoolean
    case ByteType                                                             => OfByte
    case ShortType                                                            => OfShort
    case IntegerType | DateType | _: YearMonthIntervalType                    => OfInt
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => OfLong
    case FloatType                                                            => OfFloat
    case DoubleType                                                           => OfDouble
    case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS => OfLong
    case StringType | BinaryType                                              => OfBytes
    case CalendarIntervalType                                                 => OfInterval
    case struct: StructType => new OfStruct(struct)
    case other              => new OfOther(other)
  }

  /** Like `UnsafeRow.getStruct`, without a new row. */
  private def struct(row: UnsafeRow, column: Int, into: UnsafeRow): UnsafeRow = {
    val offsetAndSize = row.getLong(column)
    into.pointTo(row.getBaseObject, row.getBaseOffset + (offsetAndSize >>> 32), offsetAndSize.toInt)
    into
  }

  private val OfBoolean: ColumnHash =
    (row, column, seed) => Murmur3_x86_32.hashInt(if (row.getBoolean(column)) 1 else 0, seed)

  private val OfByte: ColumnHash =
    (row, column, seed) => Murmur3_x86_32.hashInt(row.getByte(column).toInt, seed)

  private val OfShort: ColumnHash =
    (row, column, seed) => Murmur3_x86_32.hashInt(row.getShort(column).toInt, seed)

  private val OfInt: ColumnHash =
    (row, column, seed) => Murmur3_x86_32.hashInt(row.getInt(column), seed)

  /** Also decimals that fit a long: a row stores them unscaled. */
  private val OfLong: ColumnHash =
    (row, column, seed) => Murmur3_x86_32.hashLong(row.getLong(column), seed)

  private val OfFloat: ColumnHash = (row, column, seed) => {
    val value = row.getFloat(column)
    val bits = if (value == 0.0f) 0 else java.lang.Float.floatToIntBits(value)
    Murmur3_x86_32.hashInt(bits, seed)
  }

  private val OfDouble: ColumnHash = (row, column, seed) => {
    val value = row.getDouble(column)
    val bits = if (value == 0.0) 0L else java.lang.Double.doubleToLongBits(value)
    Murmur3_x86_32.hashLong(bits, seed)
  }

  private val OfBytes: ColumnHash = (row, column, seed) => {
    val offsetAndSize = row.getLong(column)
    val at = row.getBaseOffset + (offsetAndSize >>> 32)
    Murmur3_x86_32.hashUnsafeBytes(row.getBaseObject, at, offsetAndSize.toInt, seed)
  }

  /** As Spark's generated code has it, which leaves the days out; its interpreted hash does not. */
  private val OfInterval: ColumnHash = (row, column, seed) => {
    val value = row.getInterval(column)
    Murmur3_x86_32.hashInt(value.months, Murmur3_x86_32.hashLong(value.microseconds, seed))
  }

  private final class OfStruct(schema: StructType) extends ColumnHash {
    private val columns = new ColumnsHash(schema.map(_.dataType), 0)
    private val nested = new UnsafeRow(schema.length)

    override def of(row: UnsafeRow, column: Int, seed: Int): Int =
      columns.of(struct(row, column, nested), seed)
  }

  private final class OfField(schema: StructType, path: Seq[Int]) extends ColumnHash {
    private val field = path.head
    private val inner = ofField(schema, path)
    private val nested = new UnsafeRow(schema.length)

    override def of(row: UnsafeRow, column: Int, seed: Int): Int = {
      struct(row, column, nested)
      if (nested.isNullAt(field)) seed else inner.of(nested, field, seed)
    }
  }

  /** Types that are rare in keys: Spark's own hash, interpreted. */
  private final class OfOther(dataType: DataType) extends ColumnHash {
    override def of(row: UnsafeRow, column: Int, seed: Int): Int =
      Murmur3HashFunction.hash(row.get(column, dataType), dataType, seed.toLong).toInt
  }
}
