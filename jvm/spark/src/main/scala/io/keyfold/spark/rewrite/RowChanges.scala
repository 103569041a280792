package io.keyfold.spark.rewrite

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.ByteBuffer

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
  def add(partition: Int, key: UnsafeRow, value: UnsafeRow): Option[Array[Byte]] = {
    val block = waiting.getOrElseUpdate(partition.toLong, new Block)
    block.add(key, value)
    Option.when(block.size >= BlockBytes) {
      waiting -= partition.toLong
      block.bytes
    }
  }

  /** What is left, by partition. */
  def rest: Iterator[(Int, Array[Byte])] =
    waiting.iterator.map { case (partition, block) => partition.toInt -> block.bytes }
}

private object RowChanges {
  private val BlockBytes = 8 << 10
  private val Deleted = -1

  /** The changes of a block, in their order: key and value, null for a deletion. */
  def of(block: Array[Byte], keyFields: Int, valueFields: Int): Iterator[(UnsafeRow, UnsafeRow)] = {
    val in = ByteBuffer.wrap(block)
    Iterator.continually(in).takeWhile(_.hasRemaining).map { _ =>
      val (keyBytes, valueBytes) = (in.getInt, in.getInt)
      val key = take(in, keyBytes, keyFields)
      key -> (if (valueBytes == Deleted) null else take(in, valueBytes, valueFields))
    }
  }

  private def take(in: ByteBuffer, bytes: Int, fields: Int): UnsafeRow = {
    val row = new UnsafeRow(fields)
    row.pointTo(in.array, Platform.BYTE_ARRAY_OFFSET.toLong + in.position(), bytes)
    in.position(in.position() + bytes)
    row
  }

  private final class Block {
    private val buffer = new ByteArrayOutputStream(BlockBytes + BlockBytes / 4)
    private val out = new DataOutputStream(buffer)

    /** Rows have a multiple of eight bytes, and so have both sizes: all begin at one. */
    def add(key: UnsafeRow, value: UnsafeRow): Unit = {
      out.writeInt(key.getSizeInBytes)
      out.writeInt(if (value == null) Deleted else value.getSizeInBytes)
      key.writeToStream(out, null)
      if (value != null) value.writeToStream(out, null)
    }
    def size: Int = buffer.size
    def bytes: Array[Byte] = buffer.toByteArray
  }
}
