package io.keyfold.spark.rewrite

import io.keyfold.errors.Invalid
import io.keyfold.group.KeyGroups
import io.keyfold.spark.partition.PartitionKey
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStoreColFamilySchema
import org.apache.spark.sql.keyfold.SparkRows
import org.apache.spark.sql.types.{NullType, StructType}

/** A table whose rows can be written, with the columns of its shape. Sent to executors.
  *
  * @param name
  *   that its users have for it
  * @param family
  *   that has the rows: the column family or, of a join that has a store for each, the store's only
  *   one, by the store's name
  * @param schema
  *   of that family
  * @param expires
  *   whether values have the time at which they expire
  * @param normalizes
  *   whether Spark has one zero and one NaN in its keys
  * @param rule
  *   by which rows are placed in partitions, as the files have it
  */
private[rewrite] final class WritableTable(
    val name: String,
    val family: String,
    schema: StateStoreColFamilySchema,
    val shape: TableShape,
    val expires: Boolean,
    normalizes: Boolean,
    rule: String,
    partitions: Int
) extends Serializable {
  private val keys = schema.keySchema
  private val values = schema.valueSchema

  private val ofKey = shape.keyColumns(keys)
  private val ofValue = shape.valueColumns(values, keys.length)

  /** Columns that name a row. */
  val keyColumns: StructType = TableColumn.schema(ofKey)

  /** Columns of a whole row. */
  val columns: StructType = TableColumn.schema(ofKey ++ ofValue)

  /** Whether a row of the table is one of its family, and nothing else is kept of it. */
  def isPlain: Boolean =
    (shape == TableShape.Rows || shape == TableShape.Entries) && !expires

  /** Makes changes of rows, see [[RowChanges]], with the partition of each block. Those of a key
    * stay in their order.
    *
    * @param rows
    *   with [[columns]], or to be deleted with [[keyColumns]]
    */
  def changes(rows: Iterator[InternalRow], isDelete: Boolean): Iterator[(Int, Array[Byte])] = {
    val keyOf = UnsafeProjection.create(fieldsOf(ofKey, 0).map(asKey))
    val valueOf = UnsafeProjection.create(
      if (ofValue.isEmpty) Seq(Literal(null, NullType)) else fieldsOf(ofValue, ofKey.length)
    )
    val hashOf = PartitionKey(rule, keys).newHash()
    val changes = new RowChanges
    val full = rows.flatMap { row =>
      val key = keyOf(row)
      val partition = KeyGroups.partitionOf(hashOf(key), partitions)
      changes.add(partition, key, if (isDelete) null else checked(valueOf(row)))
    }
    full ++ changes.rest
  }

  /** Reads the blocks of [[changes]], see [[RowChanges.each]]. */
  def each(blocks: Iterator[Array[Byte]])(use: (UnsafeRow, UnsafeRow) => Unit): Unit =
    RowChanges.each(blocks, keyLength, values.length)(use)

  private def checked(value: UnsafeRow) =
    if (!expires || (!value.isNullAt(0) && !value.isNullAt(1) && value.getLong(1) >= 0)) value
    else
      throw new Invalid(
        "KEYFOLD_WRITE_ROWS",
        s"Cannot write table $name: a row has no value, or no time at which it expires, in milliseconds " +
          s"since 1970: ${SparkRows.json(value, values)}. Nothing was changed."
      )

  private def asKey(value: Expression) = if (normalizes) SparkRows.normalized(value) else value

  /** The fields of a family's rows, from those of the table.
    *
    * @param first
    *   index of the first of these columns
    */
  private def fieldsOf(columns: Seq[TableColumn], first: Int): Seq[Expression] =
    columns.zipWithIndex.flatMap { case (it, index) => it.fieldsIn(first + index) }

  private val keyLength = ofKey.map(_.fields.length).sum

  /** The grouping key of a key that has another column besides. */
  def groupingKey(key: UnsafeRow): UnsafeRow =
    key.getStruct(0, keys.head.dataType.asInstanceOf[StructType].length)

  /** A key as text, for messages. */
  def described(key: UnsafeRow): String =
    SparkRows.json(key, StructType(keys.take(keyLength)))
}
