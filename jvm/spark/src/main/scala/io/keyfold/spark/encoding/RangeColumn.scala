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
private sealed abstract class RangeColumn(val width: Int, flips: Boolean) {

  /** The value, sign-extended. */
  def read(row: UnsafeRow, i: Int): Long

  def ordered(value: Long): Long = if (flips && value < 0) ~value else value

  /** The row representation of a result of `ordered`. */
  def word(ordered: Long, negative: Boolean): Long = {
    val value = if (flips && negative) ~ordered else ordered
    if (width == 8) value else value & ((1L << width * 8) - 1)
  }
}

private object RangeColumn {
  private case object Flag extends RangeColumn(1, flips = false) {
    override def read(row: UnsafeRow, i: Int): Long = if (row.getBoolean(i)) 1L else 0L
  }
  private case object Tiny extends RangeColumn(1, flips = false) {
    override def read(row: UnsafeRow, i: Int): Long = row.getByte(i).toLong
  }
  private case object Small extends RangeColumn(2, flips = false) {
    override def read(row: UnsafeRow, i: Int): Long = row.getShort(i).toLong
  }
  private final class Four(flips: Boolean) extends RangeColumn(4, flips) {
    override def read(row: UnsafeRow, i: Int): Long = row.getInt(i).toLong
  }
  private final class Eight(flips: Boolean) extends RangeColumn(8, flips) {
    override def read(row: UnsafeRow, i: Int): Long = row.getLong(i)
  }

  private val ofType: Map[DataType, RangeColumn] = Map(
    BooleanType -> Flag,
    ByteType -> Tiny,
    ShortType -> Small,
    IntegerType -> new Four(flips = false),
    LongType -> new Eight(flips = false),
    FloatType -> new Four(flips = true),
    DoubleType -> new Eight(flips = true)
  )

  def of(dataType: DataType): RangeColumn = ofType(dataType)
  def isOrdered(dataType: DataType): Boolean = ofType.contains(dataType)
}
