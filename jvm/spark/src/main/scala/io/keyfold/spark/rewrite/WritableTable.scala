package io.keyfold.spark.rewrite

import io.keyfold.group.KeyGroups
import io.keyfold.spark.partition.PartitionKey
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  Expression,
  GetStructField,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.execution.streaming.state.StateStoreColFamilySchema
import org.apache.spark.sql.keyfold.SparkRows
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/** A table of which each row is one row of a column family. Its columns are named as by Spark's
  * `statestore` source. Sent to executors.
  *
  * @param isMap
  *   whether it is a map of transformWithState
  * @param rule
  *   by which rows are placed in partitions, as the files have it
  */
private[rewrite] final class WritableTable(
    val family: String,
    schema: StateStoreColFamilySchema,
    isMap: Boolean,
    rule: String,
    partitions: Int
) extends Serializable {
  import WritableTable._

  private val keys = schema.keySchema
  private val values = schema.valueSchema

  /** Columns that name a row. */
  val keyColumns: StructType =
    if (isMap)
      StructType(Seq(column("key", keys(0).dataType), column("user_map_key", keys(1).dataType)))
    else StructType(Seq(column("key", keys)))

  /** Columns of a whole row. */
  val columns: StructType =
    keyColumns.add(column(if (isMap) "user_map_value" else "value", values))

  /** Makes changes of rows, with the partition of each.
    *
    * @param rows
    *   with [[columns]], or to be deleted with [[keyColumns]]
    */
  def changes(rows: Iterator[InternalRow], isDelete: Boolean): Iterator[(Int, RowChange)] = {
    val keyOf = UnsafeProjection.create(
      if (isMap) keyColumns.indices.map(i => wholeOf(keyColumns, i)) else fieldsOf(keyColumns, 0)
    )
    val valueOf = UnsafeProjection.create(fieldsOf(columns, columns.length - 1))
    val hashOf = PartitionKey(rule, keys).newHash()
    rows.map { row =>
      val key = keyOf(row)
      // A projection writes each row into the same buffer.
      val value = if (isDelete) null else valueOf(row).copy().getBytes
      KeyGroups.partitionOf(hashOf(key), partitions) -> RowChange(key.copy().getBytes, value)
    }
  }

  def keyRow(change: RowChange): UnsafeRow = SubtaskStore.pointing(change.key, keys.length)
  def valueRow(change: RowChange): UnsafeRow = SubtaskStore.pointing(change.value, values.length)

  /** A key as text, for messages. */
  def described(key: UnsafeRow): String = SparkRows.json(key, keys)
}

private object WritableTable {
  private def column(name: String, of: DataType) =
    StructField(name, of, nullable = false)

  /** The value of a column, as Spark would have it in a key. */
  private def wholeOf(columns: StructType, index: Int): Expression = {
    val column = columns(index)
    notNull(SparkRows.normalized(reference(columns, index)), column)
  }

  /** The fields of a column that is a struct. */
  private def fieldsOf(columns: StructType, index: Int): Seq[Expression] = {
    val column = columns(index)
    val struct = column.dataType.asInstanceOf[StructType]
    val whole = notNull(reference(columns, index), column)
    struct.zipWithIndex.map { case (field, i) =>
      val value = GetStructField(whole, i)
      notNull(if (index == 0) SparkRows.normalized(value) else value, field, column.name + ".")
    }
  }

  /** Nothing in it is taken for not null, or no check would be made. */
  private def reference(columns: StructType, index: Int) =
    BoundReference(index, SparkRows.nullable(columns)(index).dataType, nullable = true)

  private def notNull(value: Expression, of: StructField, prefix: String = "") =
    if (of.nullable) value else AssertNotNull(value, Seq(s"column: $prefix${of.name}"))
}
