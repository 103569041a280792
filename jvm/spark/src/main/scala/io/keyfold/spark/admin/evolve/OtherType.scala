package io.keyfold.spark.admin.evolve

import io.keyfold.spark.rewrite.StateUpdate
import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{lit, struct, when}
import org.apache.spark.sql.keyfold.SparkRows
import org.apache.spark.sql.types.{DataType, StructType}

/** Values in another type: fields of a struct are found by name, others are cast as an INSERT does.
  */
private object OtherType {

  /** @param path
    *   of the value, for messages
    * @return
    *   Left: the path of what cannot be had, and why
    */
  def of(
      value: Column,
      from: DataType,
      to: DataType,
      path: String
  ): Either[(String, String), Column] = (from, to) match {
    case _ if DataType.equalsIgnoreNullability(from, to) => Right(value)
    case (from: StructType, to: StructType)              => ofStruct(value, from, to, path)
    // A cast would take the fields of structs in arrays and maps by their places.
    case _ if SparkRows.canStore(from, to) && hasSameFields(from, to) => Right(value)
    case _ => Left(path -> s"is a ${to.sql} and was a ${from.sql}")
  }

  private def hasSameFields(from: DataType, to: DataType) =
    StateUpdate.fieldsOf(from) == StateUpdate.fieldsOf(to)

  private def ofStruct(value: Column, from: StructType, to: StructType, path: String) = {
    val fields = to.map { field =>
      val inner = s"$path.${field.name}"
      from.find(_.name == field.name) match {
        case Some(it) => of(value.getField(it.name), it.dataType, field.dataType, inner)
        case None if field.nullable => Right(lit(null).cast(field.dataType))
        case None                   => Left(inner -> "is not in the checkpoint, and cannot be null")
      }
    }
    if (!to.exists(it => from.exists(_.name == it.name)))
      Left(path -> "has none of its fields in the checkpoint")
    else
      fields.collectFirst { case Left(why) => Left(why) }.getOrElse {
        val named = fields.zip(to).collect { case (Right(it), field) => it.as(field.name) }
        Right(when(value.isNotNull, struct(named: _*)))
      }
  }
}
