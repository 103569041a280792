package io.keyfold.spark.rewrite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.keyfold.SparkRows
import org.apache.spark.sql.types.{StructField, StructType}

/** A column of a table, and where the table's family has it.
  *
  * @param fields
  *   of the family's key or value: the column is a struct of them, or the only one
  * @param from
  *   index of the first, where a value's fields follow those of its key
  */
private[rewrite] final case class TableColumn private (
    name: String,
    fields: Seq[StructField],
    from: Int,
    isStruct: Boolean
) {

  /** The column in the table's schema. */
  def field: StructField =
    StructField(name, if (isStruct) StructType(fields) else fields.head.dataType, nullable = false)

  /** The column, computed from a row of the family. */
  def value: Expression = {
    val its = fields.zipWithIndex.map { case (it, i) =>
      BoundReference(from + i, it.dataType, it.nullable)
    }
    if (!isStruct) its.head
    else
      CreateNamedStruct(
        fields.zip(its).flatMap { case (it, value) => Seq(Literal(it.name), value) }
      )
  }

  /** The fields, of which nothing is null that may not be, computed from a row of the table.
    *
    * @param index
    *   of the column in that row
    */
  def fieldsIn(index: Int): Seq[Expression] = {
    // Were it bound with the table's own type, no check would be made.
    val bound = BoundReference(index, SparkRows.nullable(field.dataType), nullable = true)
    val column = TableColumn.checked(bound, field, name)
    if (isStruct) fields.indices.map(GetStructField(column, _)) else Seq(column)
  }
}

private[rewrite] object TableColumn {

  /** A struct of all these fields. */
  def struct(name: String, fields: StructType, from: Int): TableColumn =
    TableColumn(name, fields, from, isStruct = true)

  /** A field, by another name. */
  def field(name: String, field: StructField, from: Int): TableColumn =
    TableColumn(name, Seq(field), from, isStruct = false)

  def schema(columns: Seq[TableColumn]): StructType = StructType(columns.map(_.field))

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
