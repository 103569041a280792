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
private final class RangeColumn(val width: Int, flips: Boolean) {

  /** Bits of a row's word beyond the value; rows may have anything there. */
  private val beyond = 64 - width * 8

  /** The value, sign-extended. */
  def read(row: UnsafeRow, i: Int): Long = row.getLong(i) << beyond >> beyond

  def ordered(value: Long): Long = if (flips && value < 0) ~value else value

  /** The row representation of a result of `ordered`. */
  def word(ordered: Long, negative: Boolean): Long = {
    val value = if (flips && negative) ~ordered else ordered
    if (width == 8) value else value & ((1L << width * 8) - 1)
  }
}

private object RangeColumn {
  private val ofType: Map[DataType, RangeColumn] = Map(
    BooleanType -> new RangeColumn(1, flips = false),
    ByteType -> new RangeColumn(1, flips = false),
    ShortType -> new RangeColumn(2, flips = false),
    IntegerType -> new RangeColumn(4, flips = false),
    LongType -> new RangeColumn(8, flips = false),
    FloatType -> new RangeColumn(4, flips = true),
    DoubleType -> new RangeColumn(8, flips = true)
  )

  def of(dataType: DataType): RangeColumn = ofType(dataType)
  def isOrdered(dataType: DataType): Boolean = ofType.contains(dataType)
}
