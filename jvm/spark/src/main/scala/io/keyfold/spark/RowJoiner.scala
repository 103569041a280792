package io.keyfold.spark

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform

/** Puts the columns of two rows behind one another. Spark generates code for that, which takes some
  * 60 microseconds to get hold of; this takes nothing, as every scan needs one.
  *
  * The row that it returns is reused.
  */
private final class RowJoiner(first: StructType, second: StructType) {
  private val (n1, n2) = (first.length, second.length)
  private val (words1, words2) = (bitSetWords(n1), bitSetWords(n2))
  private val words = bitSetWords(n1 + n2)
  private val variable1 = variableColumns(first)
  private val variable2 = variableColumns(second)
  private val joined = new UnsafeRow(n1 + n2)
  private var buffer = new Array[Byte](64)

  def join(a: UnsafeRow, b: UnsafeRow): UnsafeRow = {
    val tail1 = a.getSizeInBytes - (words1 + n1) * 8
    val tail2 = b.getSizeInBytes - (words2 + n2) * 8
    val size = (words + n1 + n2) * 8 + tail1 + tail2
    if (buffer.length < size) buffer = new Array[Byte](size * 2)
    joined.pointTo(buffer, size)
    for (i <- 0 until words) Platform.putLong(buffer, at(i), 0L)
    for (i <- 0 until n1 if a.isNullAt(i)) setNull(i)
    for (i <- 0 until n2 if b.isNullAt(i)) setNull(n1 + i)
    copy(a, words1, n1 * 8, at(words))
    copy(b, words2, n2 * 8, at(words + n1))
    copy(a, words1 + n1, tail1, at(words + n1 + n2))
    copy(b, words2 + n2, tail2, at(words + n1 + n2) + tail1)
    shift(variable1, words, (words - words1 + n2) * 8)
    shift(variable2, words + n1, (words - words2 + n1) * 8 + tail1)
    joined
  }

  private def copy(row: UnsafeRow, fromWord: Int, length: Int, to: Long): Unit = Platform
    .copyMemory(row.getBaseObject, row.getBaseOffset + fromWord * 8L, buffer, to, length.toLong)

  private def setNull(i: Int): Unit = {
    val word = at(i >> 6)
    Platform.putLong(buffer, word, Platform.getLong(buffer, word) | (1L << (i & 63)))
  }

  /** A column of variable length holds the place of its bytes, from the start of the row, in its
    * upper half; 0 if it has none.
    */
  private def shift(columns: Array[Int], start: Int, by: Int): Unit =
    for (i <- columns) {
      val place = Platform.getLong(buffer, at(start + i))
      if (place != 0L) Platform.putLong(buffer, at(start + i), place + (by.toLong << 32))
    }

  private def at(word: Int): Long = Platform.BYTE_ARRAY_OFFSET + word * 8L

  private def bitSetWords(columns: Int) = UnsafeRow.calculateBitSetWidthInBytes(columns) / 8

  private def variableColumns(schema: StructType) =
    schema.indices.filterNot(i => UnsafeRow.isFixedLength(schema(i).dataType)).toArray
}
