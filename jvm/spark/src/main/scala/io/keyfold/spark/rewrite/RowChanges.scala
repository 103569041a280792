package io.keyfold.spark.rewrite

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Rows to put, or keys of which the rows are deleted, on their way to the task of a partition:
  * many in an array of bytes, since a shuffle takes microseconds for each object. In a task.
  */
private final class RowChanges {
  import RowChanges._

  private val waiting = mutable.LongMap.empty[Block]

  /** Adds a change to those of a partition; returns these if there are enough.
    *
    * @param key
    *   of the family; of a join's side without its index
    * @param value
    *   of the family; null: the rows of the key are deleted
    */
  def add(partition: Int, key: UnsafeRow, value: UnsafeRow): Option[(Int, Array[Byte])] = {
    val block = waiting.getOrElseUpdate(partition.toLong, new Block)
    block.add(key, value)
    if (block.size < BlockBytes) None
    else {
      waiting -= partition.toLong
      Some(partition -> block.toArray)
    }
  }

  /** What is left, by partition. */
  def rest: Iterator[(Int, Array[Byte])] =
    waiting.iterator.map { case (partition, block) => partition.toInt -> block.toArray }
}

private object RowChanges {
  private val BlockBytes = 8 << 10
  private val Deleted = -1

  private def at(position: Int) = Platform.BYTE_ARRAY_OFFSET.toLong + position

  /** Calls `use` with key and value of each change of blocks, in their order; a value is null for a
    * deletion. The rows are reused, and point into the block.
    *
    * @param keyFields
    *   number of fields of a key, and of a value below
    */
  def each(blocks: Iterator[Array[Byte]], keyFields: Int, valueFields: Int)(
      use: (UnsafeRow, UnsafeRow) => Unit
  ): Unit = {
    val (key, value) = (new UnsafeRow(keyFields), new UnsafeRow(valueFields))
    for (block <- blocks) {
      var position = 0
      while (position < block.length) {
        val keyBytes = Platform.getInt(block, at(position))
        val valueBytes = Platform.getInt(block, at(position + 4))
        val end = position + 8 + keyBytes
        key.pointTo(block, at(position + 8), keyBytes)
        if (valueBytes == Deleted) use(key, null)
        else {
          value.pointTo(block, at(end), valueBytes)
          use(key, value)
        }
        position = end + math.max(valueBytes, 0)
      }
    }
  }

  private final class Block {
    private var bytes = new Array[Byte](BlockBytes + BlockBytes / 4)
    var size = 0

    /** Rows have a multiple of eight bytes, and so have both sizes: all begin at one. */
    def add(key: UnsafeRow, value: UnsafeRow): Unit = {
      val valueBytes = if (value == null) 0 else value.getSizeInBytes
      val end = Math.addExact(size + 8, Math.addExact(key.getSizeInBytes, valueBytes))
      if (end > bytes.length) bytes = Arrays.copyOf(bytes, end)
      Platform.putInt(bytes, at(size), key.getSizeInBytes)
      Platform.putInt(bytes, at(size + 4), if (value == null) Deleted else valueBytes)
      key.writeToMemory(bytes, at(size + 8))
      if (value != null) value.writeToMemory(bytes, at(end - valueBytes))
      size = end
    }
    def toArray: Array[Byte] = Arrays.copyOf(bytes, size)
  }
}
