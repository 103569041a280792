package io.keyfold.spark.rewrite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreColFamilySchema}
import org.apache.spark.sql.types.StructType

/** The rows of a column family in a version of a partition, in a task. */
private final class FamilyRows(state: StateStore, schema: StateStoreColFamilySchema) {
  private val name = schema.colFamilyName
  private lazy val keyOf = UnsafeProjection.create(schema.keySchema)
  private lazy val valueOf = UnsafeProjection.create(schema.valueSchema)

  /** A key of this family; valid until the next one is made. */
  def key(columns: Any*): UnsafeRow = keyOf(InternalRow.fromSeq(columns))

  /** Its key that has another row's columns, and one more. */
  def keyWith(row: UnsafeRow, last: Any): UnsafeRow =
    key(row.toSeq(allButLast) :+ last: _*)
  private lazy val allButLast = StructType(schema.keySchema.dropRight(1))

  /** A value of this family; valid until the next one is made. */
  def value(columns: Any*): UnsafeRow = valueOf(InternalRow.fromSeq(columns))

  /** Keys that were there when it was called, but some. */
  def keysBut(isOne: UnsafeRow => Boolean): Seq[UnsafeRow] =
    state.iterator(name).map(_.key).filterNot(isOne).map(_.copy()).toVector
  def get(key: UnsafeRow): Option[UnsafeRow] = Option(state.get(key, name))
  def put(key: UnsafeRow, value: UnsafeRow): Unit = state.put(key, value, name)
  def append(key: UnsafeRow, value: UnsafeRow): Unit = state.merge(key, value, name)
  def remove(key: UnsafeRow): Unit = state.remove(key, name)
}
