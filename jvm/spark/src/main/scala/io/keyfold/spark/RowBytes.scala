package io.keyfold.spark

import io.keyfold.mem.Slice
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.StructType

/** `UnsafeRow` and [[Slice]] address bytes alike: going from one to the other copies nothing. */
private object RowBytes {
  def slice(row: UnsafeRow, into: Slice): Slice =
    into.set(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)

  def row(columns: Int, bytes: Slice): UnsafeRow = point(new UnsafeRow(columns), bytes)

  def point(row: UnsafeRow, bytes: Slice): UnsafeRow = {
    row.pointTo(bytes.base, bytes.offset, bytes.length)
    row
  }

  /** Takes some columns of a row, as a row that is reused. */
  def project(schema: StructType, columns: Seq[Int]): UnsafeProjection =
    UnsafeProjection.create(columns.map { i =>
      BoundReference(i, schema(i).dataType, schema(i).nullable)
    })
}
