package io.keyfold.spark.admin.evolve

import io.keyfold.spark.admin.evolve.Buffers.{Buffer, Empty, From, Unknown}
import io.keyfold.spark.rewrite.StateTable
import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{col, expr, lit, struct, when}
import org.apache.spark.sql.keyfold.PlannedAggregation.Aggregate
import org.apache.spark.sql.keyfold.{PlannedAggregation, SparkRows}
import org.apache.spark.sql.types.{DataType, StructField, StructType}

/** Where a field of a table comes from.
  *
  * @param path
  *   its column and name, such as `value.total`; a column that has no fields is its own path
  * @param value
  *   computed from a row before; Left: why it cannot be
  * @param text
  *   the same for people
  * @param takes
  *   paths before that it is computed from
  * @param aggregate
  *   that it is a buffer of
  */
private final case class FieldSource(
    path: String,
    value: Either[String, Column],
    text: String,
    takes: Set[String],
    aggregate: Option[String]
)

/** Finds where the fields of a table come from, in this order: what the user has given; for buffers
  * of aggregates, those of the same aggregate; the field of the same name; one that has another
  * name, if only that one is left on both sides; null.
  *
  * @param values
  *   expressions that a user has given, by path
  * @param aggregation
  *   of the changed query, if the table is that of one
  * @param before
  *   of the query that wrote the rows, if it is known
  */
private final class FieldSources(
    fresh: StateTable,
    old: StateTable,
    values: Map[String, String],
    aggregation: Option[PlannedAggregation],
    before: Option[PlannedAggregation]
) {
  import FieldSources._

  /** Paths of the table, and of the one before. */
  val paths: Seq[String] = fresh.named.flatMap(pathsOf)
  val pathsBefore: Seq[String] = old.named.flatMap(pathsOf)

  private lazy val buffers = {
    val fields = structOf(old, "value")
    // Its leading fields are no buffers if it is a session window's.
    val keys = structOf(old, "key").fieldNames :+ "session_window"
    val leading =
      if (aggregation.forall(_.canMerge)) 0
      else fields.takeWhile(it => keys.contains(it.name)).length
    val names = old.columns("value").dataType.asInstanceOf[StructType].fieldNames
    val its = fields.zip(names).drop(leading).map { case (it, name) => Buffer(it.name, name) }
    Buffers.find(aggregation.toSeq.flatMap(_.aggregates), its, before.map(_.aggregates))
  }

  /** By column of the table. */
  val all: Seq[(StructField, Seq[FieldSource])] = fresh.named.map { column =>
    column -> (column.dataType match {
      case struct: StructType if hasFields(column) => ofStruct(column.name, struct)
      case _                                       =>
        Seq(asked(column.name).getOrElse(named(column.name, column, old.named, "", column.name)))
    })
  }

  /** Whether only the order tells some aggregates apart. */
  def isByOrder: Boolean = aggregation.nonEmpty && buffers.byOrder

  private def ofStruct(column: String, to: StructType) = {
    val from = structOf(old, column)
    val aggregates = aggregation.filter(_ => column == "value").toSeq.flatMap(_.aggregates)
    val (leading, others) = to.splitAt(to.length - aggregates.map(_.buffers.length).sum)
    val known = from.fieldNames.toSet
    val unknown =
      leading.filterNot(it => known(it.name) || values.contains(s"$column.${it.name}"))
    val left = if (aggregates.nonEmpty) Nil else from.filterNot(it => to.exists(_.name == it.name))
    val renamed = Option.when(unknown.length == 1 && left.length == 1)(left.head.name)
    leading.map { it =>
      val path = s"$column.${it.name}"
      val name = if (known(it.name)) it.name else renamed.getOrElse(it.name)
      asked(path).getOrElse(named(path, it, from, s"$column.", name))
    } ++ ofBuffers(aggregates, others, from)
  }

  private def asked(path: String): Option[FieldSource] = values.get(path).map { text =>
    // Any that it may take: they are not reported as lost.
    FieldSource(path, Right(expr(text)), text, pathsBefore.filter(text.contains).toSet, None)
  }

  /** @param from
    *   fields before, below a prefix
    */
  private def named(
      path: String,
      field: StructField,
      from: StructType,
      prefix: String,
      name: String
  ): FieldSource = from.find(_.name == name) match {
    case Some(it)                               => taken(path, field, it, s"$prefix$name", None)
    case None if field.nullable && !isKey(path) =>
      FieldSource(path, Right(lit(null).cast(field.dataType)), "null", Set.empty, None)
    case None =>
      val why = s"the column $path of $place is not in the checkpoint: give it a value with " +
        s"${option(path)}, of the columns ${pathsBefore.mkString(", ")}"
      FieldSource(path, Left(why), "", Set.empty, None)
  }

  private def taken(
      path: String,
      field: StructField,
      from: StructField,
      pathBefore: String,
      aggregate: Option[String]
  ) = {
    val value = pathBefore.split("\\.", 2).toSeq match {
      case Seq(column, name) => col(column).getField(name)
      case _                 => col(pathBefore)
    }
    val adapted = adapt(value, from.dataType, field.dataType, path)
    FieldSource(path, adapted, pathBefore, Set(pathBefore), aggregate)
  }

  /** A value in another type; fields of a struct are found by name. */
  private def adapt(
      value: Column,
      from: DataType,
      to: DataType,
      path: String
  ): Either[String, Column] = (from, to) match {
    case _ if DataType.equalsIgnoreNullability(from, to) => Right(value)
    case (from: StructType, to: StructType)              =>
      val fields = to.map { field =>
        val inner = s"$path.${field.name}"
        from.find(_.name == field.name) match {
          case Some(it) => adapt(value.getField(it.name), it.dataType, field.dataType, inner)
          case None if field.nullable => Right(lit(null).cast(field.dataType))
          case None => Left(s"$inner of $place is not in the checkpoint, and cannot be null")
        }
      }
      fields.collectFirst { case Left(why) => Left(why) }.getOrElse {
        val named = fields.zip(to).collect { case (Right(it), field) => it.as(field.name) }
        Right(when(value.isNotNull, struct(named: _*)))
      }
    case _ if SparkRows.canStore(from, to) => Right(value)
    case _                                 =>
      Left(
        s"the column $path of $place is a ${to.sql} and was a ${from.sql}: give it a value with ${option(path)}"
      )
  }

  private def ofBuffers(aggregates: Seq[Aggregate], fields: Seq[StructField], from: StructType) = {
    val next = fields.iterator
    for {
      (aggregate, start) <- if (aggregates.isEmpty) Nil else aggregates.zip(buffers.starts)
      nth <- aggregate.buffers.indices
      field = next.next()
      path = s"value.${field.name}"
    } yield {
      def source(value: Either[String, Column], text: String) =
        FieldSource(path, value, text, Set.empty, Some(aggregate.text))
      (asked(path), start) match {
        case (Some(it), _)      => it.copy(aggregate = Some(aggregate.text))
        case (_, From(columns)) =>
          val name = columns(nth)
          taken(path, field, from(name), s"value.$name", Some(aggregate.text))
        case (_, Empty)   => source(Right(aggregate.initial(nth)), "starts empty")
        case (_, Unknown) =>
          val why = s"which column of the checkpoint is $path (${aggregate.text}) of $place cannot be told, " +
            s"as several have its name: give the query before with --from, or a value with ${option(path)}"
          source(Left(why), "")
      }
    }
  }

  private def option(path: String) = s"--set ${place.stripPrefix("operator ")}.$path=EXPRESSION"
  private def place = placeOf(fresh)
}

private object FieldSources {

  /** A table as users name it. */
  def placeOf(table: StateTable): String =
    if (table.name == "default") s"operator ${table.operator}"
    else s"${table.operator}/${table.name}"

  /** The fields of a column; none if there is no such column. */
  def structOf(table: StateTable, column: String): StructType =
    table.named
      .find(_.name == column)
      .map(_.dataType)
      .collect { case it: StructType => it }
      .getOrElse(new StructType)

  private val WithFields = Set("key", "value", "user_map_key", "user_map_value", "list_element")
  private def hasFields(column: StructField) = WithFields(column.name)
  private def isKey(path: String) =
    path.startsWith("key.") || path.startsWith("user_map_key.") || !path.contains('.')

  private def pathsOf(column: StructField): Seq[String] = column.dataType match {
    case struct: StructType if hasFields(column) => struct.map(it => s"${column.name}.${it.name}")
    case _                                       => Seq(column.name)
  }
}
