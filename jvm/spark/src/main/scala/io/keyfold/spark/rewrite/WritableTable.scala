package io.keyfold.spark.rewrite

import io.keyfold.group.KeyGroups
import io.keyfold.spark.partition.PartitionKey
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  CreateNamedStruct,
  Expression,
  GetStructField,
  If,
  IsNull,
  Literal,
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
  * @param normalizes
  *   whether Spark has one zero and one NaN in its keys
  * @param rule
  *   by which rows are placed in partitions, as the files have it
  */
private[rewrite] final class WritableTable(
    val family: String,
    schema: StateStoreColFamilySchema,
    isMap: Boolean,
    normalizes: Boolean,
    rule: String,
    partitions: Int
) extends Serializable {
  import WritableTable._

  private val keys = schema.keySchema
  private val values = schema.valueSchema

  /** Columns that name a row. */
  val keyColumns: StructType =
    if (isMap)
      StructType(Seq(named("key", keys(0).dataType), named("user_map_key", keys(1).dataType)))
    else StructType(Seq(named("key", keys)))

  /** Columns of a whole row. */
  val columns: StructType =
    keyColumns.add(named(if (isMap) "user_map_value" else "value", values))

  /** Makes changes of rows, with the partition of each.
    *
    * @param rows
    *   with [[columns]], or to be deleted with [[keyColumns]]
    */
  def changes(rows: Iterator[InternalRow], isDelete: Boolean): Iterator[(Int, RowChange)] = {
    val keyOf = UnsafeProjection.create(
      if (isMap) keyColumns.indices.map(column(keyColumns, _)) else fields(keyColumns, 0).map(asKey)
    )
    val valueOf = UnsafeProjection.create(fields(columns, columns.length - 1))
    val hashOf = PartitionKey(rule, keys).newHash()
    rows.map { row =>
      val key = keyOf(row)
      // A projection writes each row into the same buffer.
      val value = if (isDelete) null else valueOf(row).copy().getBytes
      KeyGroups.partitionOf(hashOf(key), partitions) -> RowChange(key.copy().getBytes, value)
    }
  }

  private def asKey(value: Expression) = if (normalizes) SparkRows.normalized(value) else value

  def keyRow(change: RowChange): UnsafeRow = SubtaskStore.pointing(change.key, keys.length)
  def valueRow(change: RowChange): UnsafeRow = SubtaskStore.pointing(change.value, values.length)

  /** A key as text, for messages. */
  def described(key: UnsafeRow): String = SparkRows.json(key, keys)
}

private object WritableTable {
  private def named(name: String, of: DataType) = StructField(name, of, nullable = false)

  /** A column, of which nothing is null that may not be. */
  private def column(of: StructType, index: Int): Expression = {
    // Were it bound with the table's own type, no check would be made.
    val bound = SparkRows.nullable(of)(index).dataType
    checked(BoundReference(index, bound, nullable = true), of(index), of(index).name)
  }

  /** The fields of a column that is a struct. */
  private def fields(of: StructType, index: Int): Seq[Expression] = {
    val struct = column(of, index)
    of(index).dataType.asInstanceOf[StructType].indices.map(GetStructField(struct, _))
  }

  private def checked(value: Expression, of: StructField, path: String): Expression = {
    val whole = of.dataType match {
      case struct: StructType =>
        val fields = struct.zipWithIndex.flatMap { case (it, i) =>
          Seq(Literal(it.name), checked(GetStructField(value, i), it, s"$path.${it.name}"))
        }
        val made = CreateNamedStruct(fields)
        If(IsNull(value), Literal(null, made.dataType), made)
      case _ => value
    }
    if (of.nullable) whole else AssertNotNull(whole, Seq(s"column: $path"))
  }
}
