package io.keyfold.bench.cell

import java.nio.charset.StandardCharsets.US_ASCII

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** Rows of one kind. Row `i` always has the same key, and keys of rows that follow each other lie
  * far apart, in any order of bytes.
  */
sealed abstract class Shape(val keySchema: StructType, val valueSchema: StructType) {

  /** A new key. */
  def key(row: Int): UnsafeRow

  /** A new value, to be filled by `write`. */
  def emptyValue(): UnsafeRow

  /** @param salt
    *   other values for the same row
    */
  def write(value: UnsafeRow, row: Int, salt: Int): Unit

  /** Changes a value where it lies. */
  def change(value: UnsafeRow): Unit

  /** Something of a value, so that reading it is not left out. */
  def read(value: UnsafeRow): Long
}

object Shape {
  def ofName(name: String): Shape = name match {
    case "int" => Ints
    case "str" => Strings
  }

  /** As in Spark's own benchmark; the time is different for each row and grows with it. */
  case object Ints extends NumberShape(TimestampType) {
    override def key(row: Int): UnsafeRow = keyOf(scatter(row), row * 1000L)
    def rowOf(key: UnsafeRow): Long = key.getLong(1) / 1000L
  }

  /** [[Ints]] with the time as a plain number: RocksDB has no order for timestamps. */
  case object Times extends NumberShape(LongType) {
    override def key(row: Int): UnsafeRow = Ints.key(row)

    /** The first key there can be at the time of a row: zeroes come first, byte by byte. */
    def bound(row: Int): UnsafeRow = keyOf(0, row * 1000L)
  }

  /** [[Ints]] with [[Runs.Length]] times for each number. */
  case object Runs extends NumberShape(TimestampType) {
    val Length = 100

    override def key(row: Int): UnsafeRow = keyOf(number(row / Length), row % Length * 1000L)
    def number(run: Int): Int = scatter(run)
  }

  sealed abstract class NumberShape(time: DataType)
      extends Shape(
        new StructType().add("key1", IntegerType).add("key2", time),
        new StructType().add("value", IntegerType)
      ) {
    private val ValueBytes = 16

    def keyOf(number: Int, micros: Long): UnsafeRow = {
      val key = emptyRow(2, 24)
      key.setInt(0, number)
      key.setLong(1, micros)
      key
    }

    override def emptyValue(): UnsafeRow = emptyRow(1, ValueBytes)
    override def write(value: UnsafeRow, row: Int, salt: Int): Unit =
      value.setInt(0, row ^ (salt << 24))
    override def change(value: UnsafeRow): Unit = value.setInt(0, value.getInt(0) + 1)
    override def read(value: UnsafeRow): Long = value.getInt(0).toLong
  }

  /** string(24) to 100 bytes, which are as hard to compress as base 64 text is. */
  case object Strings
      extends Shape(
        new StructType().add("key", StringType),
        new StructType().add("value", BinaryType)
      ) {
    private val KeyBytes = 24
    private val ValueBytes = 100
    private val DataOffset = Platform.BYTE_ARRAY_OFFSET + 16

    override def key(row: Int): UnsafeRow = {
      val text = f"${mixed(row.toLong)}%016x${scatter(row)}%08x".getBytes(US_ASCII)
      val key = variableRow(KeyBytes)
      Platform.copyMemory(text, Platform.BYTE_ARRAY_OFFSET, key.getBaseObject, DataOffset, KeyBytes)
      key
    }

    override def emptyValue(): UnsafeRow = variableRow(ValueBytes)

    override def write(value: UnsafeRow, row: Int, salt: Int): Unit = {
      var bits = mixed(row.toLong << 32 | salt)
      var at = 0
      while (at < ValueBytes) {
        if (at % 8 == 0) bits = mixed(bits)
        Platform.putByte(
          value.getBaseObject,
          DataOffset + at,
          (' ' + (bits >>> (at % 8 * 6) & 63)).toByte
        )
        at += 1
      }
    }

    override def change(value: UnsafeRow): Unit = {
      val old = Platform.getByte(value.getBaseObject, DataOffset)
      Platform.putByte(value.getBaseObject, DataOffset, (old ^ 1).toByte)
    }

    override def read(value: UnsafeRow): Long = Platform
      .getByte(
        value.getBaseObject,
        value.getBaseOffset + 16 + ValueBytes - 1
      )
      .toLong

    /** A row of one column of variable length: null bits, offset and length, data. */
    private def variableRow(bytes: Int): UnsafeRow = {
      val row = emptyRow(1, 16 + (bytes + 7) / 8 * 8)
      row.setLong(0, 16L << 32 | bytes)
      row
    }
  }

  private def emptyRow(columns: Int, bytes: Int): UnsafeRow = {
    val row = new UnsafeRow(columns)
    row.pointTo(new Array[Byte](bytes), bytes)
    row
  }

  /** Different numbers stay different: the factor is odd. */
  private def scatter(number: Int): Int = number * 0x9e3779b1

  /** The step of the splitmix64 generator, which too keeps different numbers different. */
  private def mixed(number: Long): Long = {
    val a = number + 0x9e3779b97f4a7c15L
    val b = (a ^ (a >>> 30)) * 0xbf58476d1ce4e5b9L
    val c = (b ^ (b >>> 27)) * 0x94d049bb133111ebL
    c ^ (c >>> 31)
  }
}
