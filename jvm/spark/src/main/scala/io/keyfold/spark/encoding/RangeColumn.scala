package io.keyfold.spark.encoding

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._

/** A column that rows are ordered by, as a whole number; for a float its raw bits.
  *
  * @param width
  *   bytes of a value
  * @param flips
  *   whether the order of negative values is reversed
  */
private final class RangeColumn(val width: Int, flips: Boolean, column: RangeColumn.Column) {

  /** The value, sign-extended. */
  def read(row: UnsafeRow, i: Int): Long = column.read(row, i)

  def ordered(value: Long): Long = if (flips && value < 0) ~value else value

  /** The row representation of a result of `ordered`. */
  def word(ordered: Long, negative: Boolean): Long = {
    val value = if (flips && negative) ~ordered else ordered
    if (width == 8) value else value & ((1L << width * 8) - 1)
  }
}

private object RangeColumn {
  abstract class Column {
    def read(row: UnsafeRow, i: Int): Long
  }

  private val four: Column = _.getInt(_).toLong
  private val eight: Column = _.getLong(_)

  private val ofType: Map[DataType, RangeColumn] = Map(
    BooleanType -> new RangeColumn(1, flips = false, (row, i) => if (row.getBoolean(i)) 1L else 0L),
    ByteType -> new RangeColumn(1, flips = false, _.getByte(_).toLong),
    ShortType -> new RangeColumn(2, flips = false, _.getShort(_).toLong),
    IntegerType -> new RangeColumn(4, flips = false, four),
    LongType -> new RangeColumn(8, flips = false, eight),
    FloatType -> new RangeColumn(4, flips = true, four),
    DoubleType -> new RangeColumn(8, flips = true, eight)
  )

  def of(dataType: DataType): RangeColumn = ofType(dataType)
  def isOrdered(dataType: DataType): Boolean = ofType.contains(dataType)
}
