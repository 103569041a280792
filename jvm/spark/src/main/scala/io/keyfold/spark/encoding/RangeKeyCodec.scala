package io.keyfold.spark.encoding

import io.keyfold.mem.{Mem, Slice}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.StateStoreErrors
import org.apache.spark.sql.types._

/** `range:<ordinals>`: for each of these columns a marker byte and the value, so that bytes compare
  * as in Spark's RocksDB provider; then the other columns as a row.
  */
private[spark] final class RangeKeyCodec(schema: StructType, ordinals: Seq[Int]) extends KeyCodec {
  import RangeKeyCodec._

  private val others = schema.indices.diff(ordinals)
  private val columns = ordinals.map(i => RangeColumn.of(schema(i).dataType)).toArray
  private val positions = ordinals.toArray
  private val leading = Array.range(0, positions.length)
  private val restOf = new RowPicker(schema, others.toArray)
  private val width = columns.map(_.width + 1).sum
  private val ordering = UnsafeRow.createFromByteArray(
    UnsafeRow.calculateBitSetWidthInBytes(columns.length) + columns.length * 8,
    columns.length
  )
  private val rest = new UnsafeRow(others.length)
  private val joiner = new RowJoiner(
    StructType(ordinals.map(schema(_))),
    StructType(others.map(schema(_))),
    (ordinals ++ others).toArray
  )
  private val buffer = new KeyBuffer

  override def encode(key: UnsafeRow): Slice = {
    putColumns(key, positions)
    buffer.row(restOf.pick(key))
    buffer.result
  }

  override def encodePrefix(prefix: UnsafeRow): Slice = {
    putColumns(prefix, leading)
    buffer.result
  }

  override def decode(bytes: Slice): UnsafeRow = {
    var i = 0
    var at = 0
    while (i < columns.length) {
      val marker = Mem.getByte(bytes.base, bytes.offset + at)
      if (marker == Null) ordering.setNullAt(i)
      else {
        val value = KeyBuffer.bigEndian(bytes, at + 1, columns(i).width)
        ordering.setLong(i, columns(i).word(value, marker == Negative))
      }
      at += 1 + columns(i).width
      i += 1
    }
    rest.pointTo(bytes.base, bytes.offset + width, bytes.length - width)
    joiner.join(ordering, rest)
  }

  private def putColumns(row: UnsafeRow, positions: Array[Int]): Unit = {
    buffer.clear()
    var i = 0
    while (i < columns.length) {
      val column = columns(i)
      if (row.isNullAt(positions(i))) {
        buffer.u8(Null.toInt)
        buffer.bigEndian(0L, column.width)
      } else {
        val value = column.read(row, positions(i))
        buffer.u8(if (value < 0) Negative.toInt else Positive.toInt)
        buffer.bigEndian(column.ordered(value), column.width)
      }
      i += 1
    }
  }
}

private[spark] object RangeKeyCodec {
  private val Negative: Byte = 0
  private val Positive: Byte = 1
  private val Null: Byte = 2

  /** @throws org.apache.spark.sql.execution.streaming.state.StateStoreUnsupportedOperationException
    *   or another of Spark's errors, if rows cannot be ordered by these columns
    */
  def requireOrdered(schema: StructType, ordinals: Seq[Int]): Unit =
    for (i <- ordinals if !RangeColumn.isOrdered(schema(i).dataType)) {
      if (schema(i).dataType == NullType) {
        throw StateStoreErrors.nullTypeOrderingColsNotSupported(schema(i).name, i.toString)
      } else throw StateStoreErrors.variableSizeOrderingColsNotSupported(schema(i).name, i.toString)
    }
}
