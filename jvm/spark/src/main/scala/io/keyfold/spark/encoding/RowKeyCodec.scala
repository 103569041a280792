package io.keyfold.spark.encoding

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec
import org.apache.spark.sql.types.StructType

/** `row`: the key row unchanged. */
private final class RowKeyCodec(schema: StructType) extends KeyCodec {
  private val slice = new Slice

  override def encode(key: UnsafeRow): Slice = RowBytes.slice(key, slice)
  override def decode(bytes: Slice): UnsafeRow = RowBytes.point(new UnsafeRow(schema.length), bytes)
  override def encodePrefix(prefix: UnsafeRow): Slice =
    throw KeyCodec.noPrefixScan(NoPrefixKeyStateEncoderSpec(schema))
}
