package io.keyfold.spark.admin.evolve

import io.keyfold.spark.admin.evolve.Buffers.{Buffer, Empty, From, Start, Unknown}
import io.keyfold.spark.rewrite.{StateTable, StateUpdate}
import org.apache.spark.sql.{AnalysisException, Column}
import org.apache.spark.sql.functions.{col, expr, lit}
import org.apache.spark.sql.keyfold.PlannedAggregation.Aggregate
import org.apache.spark.sql.keyfold.{PlannedAggregation, SparkRows}
import org.apache.spark.sql.types.{DataType, StringType, StructField, StructType}

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
  * @param isColumn
  *   whether it is a column before, of which no two values become one
  * @param isByOrder
  *   whether its place alone has decided it, as several are written alike
  * @param lost
  *   fields inside of what it takes that it does not take
  * @param aggregate
  *   that it is a buffer of
  */
private final case class FieldSource(
    path: String,
    value: Either[String, Column],
    text: String,
    takes: Set[String] = Set.empty,
    isColumn: Boolean = false,
    isByOrder: Boolean = false,
    lost: Seq[String] = Nil,
    aggregate: Option[String] = None
)

/** Finds where the fields of a table come from: what the user has given; of an aggregation, what
  * its query says; else the field of the same name, or null.
  *
  * @param values
  *   expressions that a user has given, by path
  * @param aggregation
  *   of the changed query, if the table is that of one
  * @param before
  *   of the query that wrote the rows, if it is known
  */
private final class FieldSources(
    val fresh: StateTable,
    val old: StateTable,
    val values: Map[String, String],
    val aggregation: Option[PlannedAggregation],
    val before: Option[PlannedAggregation]
) {
  import FieldSources._

  /** Paths of the table, and of the one before. */
  val paths: Seq[String] = fresh.named.flatMap(fieldsOf).map(_._1)
  val pathsBefore: Seq[String] = old.named.flatMap(fieldsOf).map(_._1)

  private val keys = structOf(fresh, "key")
  private val keysBefore = structOf(old, "key")
  private val isSession = aggregation.exists(_.isSession)
  private val aggregates = aggregation.toSeq.flatMap(_.aggregates)

  private lazy val starts = {
    val fields = structOf(old, "value")
    // Those of a session have the key before the buffers.
    val its = keysBefore.fieldNames :+ "session_window"
    val leading = if (isSession) fields.takeWhile(it => its.contains(it.name)).length else 0
    val names = old.columns("value").dataType.asInstanceOf[StructType].fieldNames
    val buffers = fields.zip(names).drop(leading).map { case (it, name) =>
      Buffer(it.name, name, it.dataType)
    }
    before.fold(Buffers.byNames(aggregates, buffers)) { it =>
      Buffers.byQuery(aggregates, buffers, it.aggregates)
    }
  }

  /** The buffers of the table, by path: they are the last fields of its values. */
  private val buffers: Map[String, PlannedBuffer] = {
    val its = for {
      (aggregate, start) <- if (aggregates.isEmpty) Nil else aggregates.zip(starts)
      nth <- aggregate.buffers.indices
    } yield PlannedBuffer(aggregate, nth, start)
    val fields = structOf(fresh, "value").takeRight(its.length)
    fields.map(it => s"value.${it.name}").zip(its).toMap
  }

  /** By column of the table. */
  val all: Seq[(StructField, Seq[FieldSource])] = fresh.named.map { column =>
    column -> fieldsOf(column).map { case (path, field) => sourceOf(path, field) }
  }

  /** What to look at in the plan: names alone decided it. */
  def warnings: Seq[String] = {
    val its = all.flatMap(_._2)
    val ofBuffers = its.exists(it => it.aggregate.nonEmpty && it.isColumn)
    def isKnown(path: String) = before.nonEmpty && !isSession && aggregation.exists {
      _.keys.exists { case (name, text) => path == s"key.$name" && name != text }
    }
    val ofKeys = its
      .filter(it => it.isColumn && MadeUp.matches(it.path) && !isKnown(it.path))
      .map(_.path)
    val byOrder = its.filter(_.isByOrder).map(it => s"${it.path} takes ${it.text}")
    Seq(
      Option.when(byOrder.nonEmpty)(
        s"$place: by their order alone ${byOrder.mkString(" and ")}, as the query before has several that are " +
          "written alike: if their order has changed, say with --set which each takes"
      ),
      Option.when(before.isEmpty && ofBuffers)(
        s"$place: a checkpoint has only names of what was aggregated: check that each aggregate is that of " +
          "before, or give the query before with --from"
      ),
      Option.when(ofKeys.nonEmpty)(
        s"$place: Spark gives ${ofKeys.mkString(" and ")} this name whatever the query computes: check that it is " +
          "as before, and in the same order"
      )
    ).flatten
  }

  private def sourceOf(path: String, field: StructField): FieldSource = {
    val buffer = buffers.get(path)
    val found = asked(path, field).getOrElse {
      // The value of a session has its key too.
      val isOfKey = path.startsWith("key.") ||
        isSession && path.startsWith("value.") && keys.exists(_.name == field.name)
      if (isOfKey && buffer.isEmpty) key(field).copy(path = path)
      else buffer.fold(named(path, field))(ofBuffer(path, field, _))
    }
    found.copy(aggregate = buffer.map(_.aggregate.text))
  }

  private def key(field: StructField): FieldSource = {
    val path = s"key.${field.name}"
    asked(path, field).getOrElse {
      (aggregation, before) match {
        case (Some(now), Some(then)) if !isSession =>
          val names = old.columns("key").dataType.asInstanceOf[StructType].fieldNames.toSeq
          if (then.keys.map(_._1) != names)
            missing(path, "is unknown, as the query that --from gives groups by other columns")
          else {
            val number = keys.fieldIndex(field.name)
            val text = now.keys(number)._2
            val same = keysBefore.zip(then.keys).collect { case (it, (_, `text`)) => it }
            if (same.isEmpty) missing(path, s"(${text.take(80)}) was no grouping column")
            else if (same.length != now.keys.count(_._2 == text))
              missing(path, s"(${text.take(80)}) is there more or less often than before")
            else {
              val one = same(now.keys.take(number).count(_._2 == text))
              taken(path, field, s"key.${one.name}").copy(isByOrder = same.length > 1)
            }
          }
        case _ if isJoin && keys.length != keysBefore.length =>
          missing(path, "cannot be told, as the join has another number of equalities")
        case _ => named(path, field)
      }
    }
  }

  private def isJoin = fresh.operatorName == "symmetricHashJoin"

  private def asked(path: String, field: StructField) = values.get(path).map { text =>
    try {
      val (columns, isOne) = SparkRows.columnsOf(text)
      val takes = pathsBefore.filter { it =>
        columns.exists(column => s"$column.".toLowerCase.startsWith(s"$it.".toLowerCase))
      }
      val one = takes.filter(it => isOne && it.equalsIgnoreCase(columns.head))
      val isColumn = one.exists(it => isSafe(path, fieldBefore(it).get.dataType, field.dataType))
      FieldSource(path, Right(expr(text)), text, takes.toSet, isColumn)
    } catch {
      case e: AnalysisException =>
        val why = s"the value of $path of $place is no expression of SQL: ${firstLineOf(e)}"
        FieldSource(path, Left(why), text)
    }
  }

  /** The field of the same name. */
  private def named(path: String, field: StructField) =
    if (fieldBefore(path).nonEmpty) taken(path, field, path)
    else if (!field.nullable || isKey(path)) missing(path, "is not in the checkpoint")
    else FieldSource(path, Right(lit(null).cast(field.dataType)), "null")

  private def fieldBefore(path: String): Option[StructField] = path.split("\\.", 2) match {
    case Array(column, name) => structOf(old, column).find(_.name == name)
    case _                   => old.named.find(_.name == path)
  }

  private def missing(path: String, why: String) =
    FieldSource(path, Left(refusal(path, s"the column $path of $place $why")), "")

  private def refusal(path: String, why: String) =
    s"$why: give it a value with ${option(path)}, of the columns ${pathsBefore.mkString(", ")}"

  private def taken(path: String, field: StructField, pathBefore: String) = {
    val from = fieldBefore(pathBefore).get
    val value = pathBefore.split("\\.", 2) match {
      case Array(column, name) => col(column).getField(name)
      case _                   => col(pathBefore)
    }
    val adapted = OtherType
      .of(value, from.dataType, field.dataType, path)
      .left
      .map { case (inner, why) => refusal(path, s"the column $inner of $place $why") }
    val (its, wanted) = (StateUpdate.fieldsOf(from.dataType), StateUpdate.fieldsOf(field.dataType))
    val nulls = wanted.diff(its)
    FieldSource(
      path,
      adapted,
      if (nulls.isEmpty) pathBefore else s"$pathBefore, ${nulls.mkString(", ")} null",
      Set(pathBefore),
      isColumn = isSafe(path, from.dataType, field.dataType),
      lost = its.diff(wanted).map(inner => s"$pathBefore.$inner")
    )
  }

  private def ofBuffer(path: String, field: StructField, buffer: PlannedBuffer) = {
    val PlannedBuffer(aggregate, nth, start) = buffer
    start match {
      case From(columns, isByOrder) =>
        val pathBefore = s"value.${columns(nth)}"
        val from = fieldBefore(pathBefore).get.dataType
        // As text, numbers would be in another order.
        if (field.dataType == StringType && from != StringType)
          missing(path, s"is a STRING and was a ${from.sql}")
        else taken(path, field, pathBefore).copy(isByOrder = isByOrder)
      case Empty        => FieldSource(path, Right(aggregate.initial(nth)), "starts empty")
      case Unknown(why) =>
        missing(path, s"(${aggregate.text}) cannot be told from the checkpoint, as $why; or")
    }
  }

  /** Whether keys that differ stay so in another type. */
  private def isSafe(path: String, from: DataType, to: DataType) =
    !isKey(path) || SparkRows.isWider(from, to)

  private def option(path: String) = s"--set ${place.stripPrefix("operator ")}.$path=EXPRESSION"
  private def place = placeOf(fresh)
}

private object FieldSources {

  /** A buffer of an aggregate: which it is of these, and where they start. */
  private final case class PlannedBuffer(aggregate: Aggregate, nth: Int, start: Start)

  /** A table as users name it. */
  def placeOf(table: StateTable): String =
    if (table.name == "default") s"operator ${table.operator}"
    else s"${table.operator}/${table.name}"

  /** What Spark says first, without the query. */
  def firstLineOf(e: AnalysisException): String =
    e.getMessage.linesIterator.map(_.trim).find(_.nonEmpty).getOrElse("")

  /** The fields of a column; none if there is no such column. */
  def structOf(table: StateTable, column: String): StructType =
    table.named
      .find(_.name == column)
      .map(_.dataType)
      .collect { case it: StructType => it }
      .getOrElse(new StructType)

  /** Names that Spark gives columns of a key: what was computed, a side of a join, a typed key. */
  private val MadeUp =
    """key\.(window|session_window|_groupingexpression|_nondeterministic|field\d+|value|_\d+)(_\d+)?""".r

  private val WithFields = Set("key", "value", "user_map_key", "user_map_value", "list_element")

  private def isKey(path: String) =
    path.startsWith("key.") || path.startsWith("user_map_key.") || !path.contains('.')

  /** The fields of a column by their paths; of one that has none, itself. */
  private def fieldsOf(column: StructField): Seq[(String, StructField)] = column.dataType match {
    case struct: StructType if WithFields(column.name) =>
      struct.map(it => s"${column.name}.${it.name}" -> it)
    case _ => Seq(column.name -> column)
  }
}
