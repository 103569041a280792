package io.keyfold.spark

import io.keyfold.mem.{Mem, Slice}
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

/** State keys as bytes, docs/FORMAT.md section 5. An instance serves one thread; what it hands out
  * is borrowed until its next call.
  */
sealed trait KeyCodec {
  def encode(key: UnsafeRow): Slice
  def decode(bytes: Slice): UnsafeRow

  /** The bytes that all keys with this prefix start with. */
  def encodePrefix(prefix: UnsafeRow): Slice
}

object KeyCodec {

  /** Name of the encoding in files, and whether it needs an ordered family. */
  def encodingOf(spec: KeyStateEncoderSpec): Option[(String, Boolean)] = spec match {
    case _: NoPrefixKeyStateEncoderSpec            => Some(("row", false))
    case PrefixKeyScanStateEncoderSpec(_, columns) => Some((s"prefix:$columns", true))
    case _                                         => None
  }

  def of(spec: KeyStateEncoderSpec): KeyCodec = spec match {
    case PrefixKeyScanStateEncoderSpec(schema, columns) => new PrefixKeyCodec(schema, columns)
    case other                                          => new RowKeyCodec(other.keySchema)
  }
}

/** `row`: the key as it is. */
private final class RowKeyCodec(schema: StructType) extends KeyCodec {
  private val slice = new Slice

  override def encode(key: UnsafeRow): Slice = RowBytes.slice(key, slice)
  override def decode(bytes: Slice): UnsafeRow = RowBytes.row(schema.length, bytes)
  override def encodePrefix(prefix: UnsafeRow): Slice =
    throw StateStoreErrors.unsupportedOperationException("prefixScan", "NoPrefix key encoder")
}

/** `prefix:<n>`: length of the first part, first n columns, other columns. */
private final class PrefixKeyCodec(schema: StructType, columns: Int) extends KeyCodec {
  private val (prefixFields, restFields) = schema.fields.splitAt(columns)
  private lazy val prefixOf = project(0, columns)
  private lazy val restOf = project(columns, schema.length)
  private val joiner = new RowJoiner(StructType(prefixFields), StructType(restFields))
  private val prefix = new UnsafeRow(columns)
  private val rest = new UnsafeRow(restFields.length)
  private val slice = new Slice
  private var buffer = new Array[Byte](64)

  override def encode(key: UnsafeRow): Slice = {
    val first = prefixOf(key)
    val second = restOf(key)
    val length = putPrefix(first, second.getSizeInBytes)
    second.writeToMemory(buffer, Mem.ArrayOffset + length)
    slice.set(buffer, 0, length + second.getSizeInBytes)
  }

  override def encodePrefix(prefix: UnsafeRow): Slice = slice.set(buffer, 0, putPrefix(prefix, 0))

  override def decode(bytes: Slice): UnsafeRow = {
    val first = Platform.getInt(bytes.base, bytes.offset)
    val start = bytes.offset + Integer.BYTES
    prefix.pointTo(bytes.base, start, first)
    rest.pointTo(bytes.base, start + first, bytes.length - Integer.BYTES - first)
    joiner.join(prefix, rest)
  }

  /** @return bytes used; `more` bytes fit behind them. Evaluated before the buffer is taken. */
  private def putPrefix(row: UnsafeRow, more: Int): Int = {
    val length = Integer.BYTES + row.getSizeInBytes
    if (buffer.length < length + more) buffer = new Array[Byte]((length + more) * 2)
    Platform.putInt(buffer, Mem.ArrayOffset, row.getSizeInBytes)
    row.writeToMemory(buffer, Mem.ArrayOffset + Integer.BYTES)
    length
  }

  private def project(from: Int, until: Int) =
    UnsafeProjection.create((from until until).map { i =>
      BoundReference(i, schema(i).dataType, schema(i).nullable)
    })
}
