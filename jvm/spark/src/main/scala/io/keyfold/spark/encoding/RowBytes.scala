package io.keyfold.spark.encoding

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** `UnsafeRow` and [[Slice]] use the same addressing: conversions copy nothing. */
private object RowBytes {
  def slice(row: UnsafeRow, into: Slice): Slice =
    into.set(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)

  def point(row: UnsafeRow, bytes: Slice): UnsafeRow = {
    row.pointTo(bytes.base, bytes.offset, bytes.length)
    row
  }
}
