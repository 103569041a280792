package io.keyfold.spark.encoding

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType

/** `avro`: keys and values as Spark's own encoder writes them, each with its schema id, so that
  * rows of an older schema can be read. Spark's encoder reuses its rows, so they are copied.
  */
private[spark] final class AvroCodec(
    family: String,
    spec: KeyStateEncoderSpec,
    valueSchema: StructType,
    schemas: StateSchemaProvider
) {
  private val data = new AvroStateEncoder(spec, valueSchema, Some(schemas), family)

  val keys: KeyCodec = new KeyCodec {
    private val encoder =
      RocksDBStateEncoder.getKeyEncoder(data, spec, useColumnFamilies = true)
    private val slice = new Slice
    override def encode(key: UnsafeRow): Slice = slice.set(encoder.encodeKey(key))
    override def decode(bytes: Slice): UnsafeRow = encoder.decodeKey(bytes.toArray).copy()
    override def encodePrefix(prefix: UnsafeRow): Slice =
      if (encoder.supportPrefixKeyScan) slice.set(encoder.encodePrefixKey(prefix))
      else throw KeyCodec.noPrefixScan(spec)
  }

  val values: ValueCodec = new ValueCodec {
    private val slice = new Slice
    override def encode(value: UnsafeRow): Slice = slice.set(data.encodeValue(value))
    override def decode(bytes: Slice, row: UnsafeRow): UnsafeRow =
      data.decodeValue(bytes.toArray).copy()
  }
}
