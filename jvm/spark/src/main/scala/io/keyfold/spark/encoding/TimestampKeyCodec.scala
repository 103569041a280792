package io.keyfold.spark.encoding

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.KeyStateEncoderSpec
import org.apache.spark.sql.keyfold.SparkShim
import org.apache.spark.sql.types.{LongType, StructType}

/** `timestampPrefix` and `timestampPostfix`: the last column, a long, encoded to sort by value,
  * before or after the other columns.
  */
private final class TimestampKeyCodec(spec: KeyStateEncoderSpec) extends KeyCodec {
  import TimestampKeyCodec._

  private val (schema, ahead) = SparkShim.timestampKey(spec)
  private val last = schema.length - 1
  private val restOf = new RowPicker(schema, Array.range(0, last))
  private val joiner =
    new RowJoiner(StructType(schema.take(last)), new StructType().add("timestamp", LongType))
  private val rest = new UnsafeRow(last)
  private val timestamp = UnsafeRow.createFromByteArray(2 * Width, 1)
  private val buffer = new KeyBuffer

  override def encode(key: UnsafeRow): Slice = {
    buffer.clear()
    if (ahead) putTimestamp(key)
    buffer.row(restOf.pick(key))
    if (!ahead) putTimestamp(key)
    buffer.result
  }

  override def encodePrefix(prefix: UnsafeRow): Slice =
    if (ahead) throw KeyCodec.noPrefixScan(spec)
    else {
      buffer.clear().row(prefix)
      buffer.result
    }

  override def decode(bytes: Slice): UnsafeRow = {
    val restLength = bytes.length - Width
    val at = if (ahead) 0 else restLength
    timestamp.setLong(0, KeyBuffer.bigEndian(bytes, at, Width) ^ Long.MinValue)
    rest.pointTo(bytes.base, bytes.offset + (if (ahead) Width else 0), restLength)
    joiner.join(rest, timestamp)
  }

  private def putTimestamp(key: UnsafeRow): Unit =
    buffer.bigEndian(key.getLong(last) ^ Long.MinValue, Width)
}

private object TimestampKeyCodec {
  private val Width = 8
}
