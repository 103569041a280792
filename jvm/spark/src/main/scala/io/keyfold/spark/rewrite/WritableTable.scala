package io.keyfold.spark.rewrite

import io.keyfold.errors.Invalid
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
import org.apache.spark.sql.types.{NullType, StructField, StructType}

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
  import WritableTable._

  private val keys = schema.keySchema
  private val values = schema.valueSchema

  /** Columns that name a row. */
  val keyColumns: StructType = shape.keyColumns(keys)

  /** Columns of a whole row. */
  val columns: StructType = StructType(keyColumns ++ shape.valueColumns(values))

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
    val keyOf = UnsafeProjection.create(
      if (keyColumns.length > 1) keyColumns.indices.map(column(keyColumns, _))
      else fields(keyColumns, 0).map(asKey)
    )
    val valueOf = UnsafeProjection.create(valueFields)
    val hashOf = PartitionKey(rule, keys).newHash()
    val changes = new RowChanges
    def nextFull() = {
      var full: (Int, Array[Byte]) = null
      while (full == null && rows.hasNext) {
        val row = rows.next()
        val key = keyOf(row)
        val partition = KeyGroups.partitionOf(hashOf(key), partitions)
        val block = changes.add(partition, key, if (isDelete) null else checked(valueOf(row)))
        if (block != null) full = partition -> block
      }
      full
    }
    Iterator.continually(nextFull()).takeWhile(_ != null) ++ changes.rest
  }

  /** Reads the blocks of [[changes]]. */
  def newCursor(): RowChanges.Cursor = new RowChanges.Cursor(keyLength, values.length)

  private def checked(value: UnsafeRow) =
    if (!expires || (!value.isNullAt(0) && !value.isNullAt(1) && value.getLong(1) >= 0)) value
    else
      throw new Invalid(
        "KEYFOLD_WRITE_ROWS",
        s"Cannot write table $name: a row has no value, or no time at which it expires, in milliseconds " +
          s"since 1970: ${SparkRows.json(value, values)}. Nothing was changed."
      )

  private def asKey(value: Expression) = if (normalizes) SparkRows.normalized(value) else value

  /** The fields of the family's value. */
  private def valueFields: Seq[Expression] =
    if (columns.length == keyColumns.length) Seq(Literal(null, NullType))
    else {
      val others = (keyColumns.length + 1 until columns.length).map(column(columns, _))
      fields(columns, keyColumns.length) ++ others
    }

  private val keyLength = if (keyColumns.length > 1) keys.length else fieldsOf(keyColumns.head)

  /** The grouping key of a key that has another column besides. */
  def groupingKey(key: UnsafeRow): UnsafeRow = key.getStruct(0, fieldsOf(keyColumns.head))

  /** A key as text, for messages. */
  def described(key: UnsafeRow): String =
    SparkRows.json(key, StructType(keys.take(keyLength)))
}

private object WritableTable {
  private def fieldsOf(column: StructField) = column.dataType.asInstanceOf[StructType].length

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
