package io.keyfold.spark.encoding

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

/** `prefix:<n>`: length of the first part, first n columns, other columns. */
private final class PrefixKeyCodec(schema: StructType, columns: Int) extends KeyCodec {
  private val (prefixFields, restFields) = schema.fields.splitAt(columns)
  private val prefixOf = new RowPicker(schema, Array.range(0, columns))
  private val restOf = new RowPicker(schema, Array.range(columns, schema.length))
  private val joiner = new RowJoiner(StructType(prefixFields), StructType(restFields))
  private val prefix = new UnsafeRow(columns)
  private val rest = new UnsafeRow(restFields.length)
  private val buffer = new KeyBuffer

  override def encode(key: UnsafeRow): Slice = {
    putPrefix(prefixOf.pick(key))
    buffer.row(restOf.pick(key))
    buffer.result
  }

  override def encodePrefix(prefix: UnsafeRow): Slice = {
    putPrefix(prefix)
    buffer.result
  }

  override def decode(bytes: Slice): UnsafeRow = {
    val first = Platform.getInt(bytes.base, bytes.offset)
    val start = bytes.offset + Integer.BYTES
    prefix.pointTo(bytes.base, start, first)
    rest.pointTo(bytes.base, start + first, bytes.length - Integer.BYTES - first)
    joiner.join(prefix, rest)
  }

  private def putPrefix(row: UnsafeRow): Unit = {
    buffer.clear().i32(row.getSizeInBytes)
    buffer.row(row)
  }
}
