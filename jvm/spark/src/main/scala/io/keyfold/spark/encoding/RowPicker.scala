package io.keyfold.spark.encoding

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{DecimalType, StructType}
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.bitset.BitSetMethods

/** Projects columns of a row, with the same bytes as Spark's generated projection. That takes a
  * millisecond to obtain, and every batch needs some; this class needs no set-up.
  *
  * The returned row is reused.
  *
  * @param columns
  *   distinct column indices, in the order of the result
  */
private[spark] final class RowPicker(schema: StructType, columns: Array[Int]) {
  private val words = UnsafeRow.calculateBitSetWidthInBytes(columns.length) / 8
  private val fixed = (words + columns.length) * 8
  private val variable = columns.map(i => !UnsafeRow.isFixedLength(schema(i).dataType))

  /** Bytes that a column takes after the fixed-length part even if it is null. */
  private val reserved = columns.map { i =>
    schema(i).dataType match {
      case d: DecimalType if !UnsafeRow.isFixedLength(d) => RowPicker.DecimalBytes
      case _                                             => 0
    }
  }
  private val picked = new UnsafeRow(columns.length)
  private var buffer = new Array[Byte](math.max(fixed, 64))

  def pick(row: UnsafeRow): UnsafeRow = {
    // No column takes more room in the result than in `row`.
    if (buffer.length < fixed + row.getSizeInBytes) {
      buffer = new Array[Byte]((fixed + row.getSizeInBytes) * 2)
    }
    clearNulls()
    var tail = fixed
    var i = 0
    while (i < columns.length) {
      val isNull = row.isNullAt(columns(i))
      if (isNull) BitSetMethods.set(buffer, Platform.BYTE_ARRAY_OFFSET, i)
      if (variable(i)) {
        val offsetAndSize = row.getLong(columns(i))
        val length = if (isNull) 0 else offsetAndSize.toInt
        val room = math.max((length + 7) & ~7, reserved(i))
        if (room > 0) copyTail(row, (offsetAndSize >>> 32).toInt, room, tail)
        val at = if (isNull && room == 0) 0L else tail.toLong << 32 | length
        Platform.putLong(buffer, word(i), at)
        tail += room
      } else Platform.putLong(buffer, word(i), row.getLong(columns(i)))
      i += 1
    }
    picked.pointTo(buffer, tail)
    picked
  }

  private def clearNulls(): Unit = {
    var i = 0
    while (i < words) {
      Platform.putLong(buffer, Platform.BYTE_ARRAY_OFFSET + i * 8L, 0L)
      i += 1
    }
  }

  private def word(i: Int): Long = Platform.BYTE_ARRAY_OFFSET + (words + i) * 8L

  private def copyTail(row: UnsafeRow, from: Int, length: Int, to: Int): Unit =
    Platform.copyMemory(
      row.getBaseObject,
      row.getBaseOffset + from,
      buffer,
      Platform.BYTE_ARRAY_OFFSET + to.toLong,
      length.toLong
    )
}

private[spark] object RowPicker {

  /** Bytes that `UnsafeRowWriter` reserves for a decimal that does not fit a long. */
  private val DecimalBytes = 16
}
