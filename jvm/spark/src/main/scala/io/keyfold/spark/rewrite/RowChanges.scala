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

  /** Adds a change to those of a partition; returns these if there are enough, else null.
    *
    * @param key
    *   of the family; of a join's side without its index
    * @param value
    *   of the family; null: the rows of the key are deleted
    */
  def add(partition: Int, key: UnsafeRow, value: UnsafeRow): Array[Byte] = {
    val block = waiting.getOrElseUpdate(partition.toLong, new Block)
    block.add(key, value)
    if (block.size < BlockBytes) null
    else {
      waiting -= partition.toLong
      block.toArray
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

  /** Reads the changes of blocks, in their order. Its rows are reused, and point into the block.
    *
    * @param keyFields
    *   number of fields of a key, and of a value below
    */
  final class Cursor(keyFields: Int, valueFields: Int) {
    private var block = Array.emptyByteArray
    private var position = 0
    private val ofKey = new UnsafeRow(keyFields)
    private val ofValue = new UnsafeRow(valueFields)

    def key: UnsafeRow = ofKey

    /** Null for a deletion. */
    var value: UnsafeRow = _

    def open(next: Array[Byte]): Unit = {
      block = next
      position = 0
    }

    /** Goes to the next change; returns whether there is one. */
    def next(): Boolean = position < block.length && {
      val (keyBytes, valueBytes) =
        (Platform.getInt(block, at(position)), Platform.getInt(block, at(position + 4)))
      position += 8
      take(ofKey, keyBytes)
      value = if (valueBytes == Deleted) null else ofValue
      if (value != null) take(value, valueBytes)
      true
    }

    private def take(row: UnsafeRow, bytes: Int): Unit = {
      row.pointTo(block, at(position), bytes)
      position += bytes
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
