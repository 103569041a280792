package io.keyfold.spark.encoding

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.bitset.BitSetMethods

/** Joins the columns of two rows into one. Spark's generated joiner takes some 60 microseconds to
  * obtain, and every scan needs one; this class needs no set-up.
  *
  * The returned row is reused.
  *
  * @param positions
  *   result index of each column of the first row, then of the second
  */
private final class RowJoiner(first: StructType, second: StructType, positions: Array[Int]) {
  private val (n1, n2) = (first.length, second.length)
  private val (words1, words2) = (bitSetWords(n1), bitSetWords(n2))
  private val words = bitSetWords(n1 + n2)
  private val variable =
    (first ++ second).map(field => !UnsafeRow.isFixedLength(field.dataType)).toArray
  private val joined = new UnsafeRow(n1 + n2)
  private var buffer = new Array[Byte](64)

  /** The columns of the first row, then those of the second. */
  def this(first: StructType, second: StructType) =
    this(first, second, Array.range(0, first.length + second.length))

  def join(a: UnsafeRow, b: UnsafeRow): UnsafeRow = {
    val fixed = words + n1 + n2
    val tail1 = a.getSizeInBytes - (words1 + n1) * 8
    val tail2 = b.getSizeInBytes - (words2 + n2) * 8
    val size = fixed * 8 + tail1 + tail2
    if (buffer.length < size) buffer = new Array[Byte](size * 2)
    joined.pointTo(buffer, size)
    var i = 0
    while (i < words) {
      Platform.putLong(buffer, at(i), 0L)
      i += 1
    }
    placeColumns(a, words1, n1, 0, (fixed - words1 - n1) * 8)
    placeColumns(b, words2, n2, n1, (fixed - words2 - n2) * 8 + tail1)
    copyTail(a, words1 + n1, tail1, at(fixed))
    copyTail(b, words2 + n2, tail2, at(fixed) + tail1)
    joined
  }

  /** The upper half of a variable-length column is the offset of its bytes from the start of the
    * row; 0 if it has none.
    *
    * @param shift
    *   number of bytes by which they move
    */
  private def placeColumns(row: UnsafeRow, words: Int, count: Int, from: Int, shift: Int): Unit = {
    var i = 0
    while (i < count) {
      val position = positions(from + i)
      if (row.isNullAt(i)) BitSetMethods.set(buffer, Platform.BYTE_ARRAY_OFFSET, position)
      val word = Platform.getLong(row.getBaseObject, row.getBaseOffset + (words + i) * 8L)
      val moved = if (variable(from + i) && word != 0L) word + (shift.toLong << 32) else word
      Platform.putLong(buffer, at(this.words + position), moved)
      i += 1
    }
  }

  private def copyTail(row: UnsafeRow, fromWord: Int, length: Int, to: Long): Unit = Platform
    .copyMemory(row.getBaseObject, row.getBaseOffset + fromWord * 8L, buffer, to, length.toLong)

  private def at(word: Int): Long = Platform.BYTE_ARRAY_OFFSET + word * 8L

  private def bitSetWords(columns: Int) = UnsafeRow.calculateBitSetWidthInBytes(columns) / 8
}
