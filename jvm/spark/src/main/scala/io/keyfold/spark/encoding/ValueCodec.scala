package io.keyfold.spark.encoding

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** State values as bytes. An instance serves one thread. */
private[spark] trait ValueCodec {

  /** Borrowed until the next call. */
  def encode(value: UnsafeRow): Slice

  /** @param row
    *   may be reused for the result, which is borrowed like the bytes
    */
  def decode(bytes: Slice, row: UnsafeRow): UnsafeRow
}

/** `unsaferow`: the value row unchanged. */
private[spark] final class RowValueCodec extends ValueCodec {
  private val slice = new Slice
  override def encode(value: UnsafeRow): Slice = RowBytes.slice(value, slice)
  override def decode(bytes: Slice, row: UnsafeRow): UnsafeRow = RowBytes.point(row, bytes)
}
