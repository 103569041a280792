package io.keyfold.spark.encoding

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim

/** State keys as bytes, docs/FORMAT.md section 5. An instance serves one thread; results are
  * borrowed until its next call.
  */
private[spark] trait KeyCodec {
  def encode(key: UnsafeRow): Slice
  def decode(bytes: Slice): UnsafeRow

  /** The bytes that all keys with this prefix start with. */
  def encodePrefix(prefix: UnsafeRow): Slice
}

private[spark] object KeyCodec {

  /** Name of the encoding in files. */
  def nameOf(spec: KeyStateEncoderSpec): String = spec match {
    case _: NoPrefixKeyStateEncoderSpec            => "row"
    case PrefixKeyScanStateEncoderSpec(_, columns) => s"prefix:$columns"
    case RangeKeyScanStateEncoderSpec(_, ordinals) => s"range:${ordinals.mkString(",")}"
    case _                                         =>
      val (_, ahead) = SparkShim.timestampKey(spec)
      if (ahead) "timestampPrefix" else "timestampPostfix"
  }

  /** Whether the family must be ordered: needed for all scans by prefix or range. */
  def isOrdered(spec: KeyStateEncoderSpec): Boolean =
    !spec.isInstanceOf[NoPrefixKeyStateEncoderSpec]

  def hasRangeScan(spec: KeyStateEncoderSpec): Boolean =
    isOrdered(spec) && !spec.isInstanceOf[PrefixKeyScanStateEncoderSpec]

  def hasRemoveRange(spec: KeyStateEncoderSpec): Boolean =
    spec.isInstanceOf[RangeKeyScanStateEncoderSpec]

  /** For keys whose rows are `UnsafeRow`s. */
  def of(spec: KeyStateEncoderSpec): KeyCodec = spec match {
    case NoPrefixKeyStateEncoderSpec(schema)            => new RowKeyCodec(schema)
    case PrefixKeyScanStateEncoderSpec(schema, columns) => new PrefixKeyCodec(schema, columns)
    case RangeKeyScanStateEncoderSpec(schema, ordinals) => new RangeKeyCodec(schema, ordinals)
    case _                                              => new TimestampKeyCodec(spec)
  }

  def noPrefixScan(spec: KeyStateEncoderSpec): Throwable = StateStoreErrors
    .unsupportedOperationException("prefixScan", s"${spec.getClass.getSimpleName} key encoder")
}
