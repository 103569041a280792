package io.keyfold.spark.admin.evolve

import org.apache.spark.sql.functions.{first, max, struct}
import org.apache.spark.sql.keyfold.SparkRows
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{AnalysisException, DataFrame}

/** The rows of a table, computed from those of a table of the query before.
  *
  * @param sources
  *   where its fields come from
  */
private final class TableSource(sources: FieldSources) {
  import FieldSources.{firstLineOf, placeOf}
  import TableSource._
  import sources.{aggregation, before, fresh, old}

  private val place = placeOf(fresh)
  private val fields = sources.all.flatMap(_._2)
  private val unused = sources.pathsBefore.filterNot(fields.flatMap(_.takes).toSet)

  /** Whether rows of several keys may become one. A value that takes a column of the key does not
    * keep them apart.
    */
  private val merges = {
    val ofKey = fields.filter(it => isOfKey(it.path))
    ofKey.exists(!_.isColumn) ||
    sources.pathsBefore.filter(isOfKey).exists(it => !ofKey.exists(_.takes(it)))
  }

  /** The rows, before those of a key are merged; or why they cannot be made. */
  private lazy val computed: Either[String, DataFrame] =
    try {
      val columns = sources.all.map { case (column, its) =>
        val found = its.map(_.value.toOption.get)
        val whole = fresh.columns(column.name).dataType match {
          case named: StructType if its.map(_.path) != Seq(column.name) =>
            struct(found.zip(named).map { case (value, it) => value.as(it.name) }: _*)
          case _ => found.head
        }
        whole.as(column.name)
      }
      SparkRows
        .fitted(old.rows.select(columns: _*), fresh.columns)
        .left
        .map(column => s"the column $column of $place has other types")
    } catch {
      case e: AnalysisException =>
        Left(s"$place cannot be computed: ${firstLineOf(e).stripSuffix(".")}")
    }

  /** The rows as they are written; call it only if nothing is refused. */
  def rows: DataFrame = {
    val all = computed.toOption.get
    fresh.operatorName match {
      case _ if !merges => all
      case Dedupe       => all.groupBy("key").agg(first("value").as("value"))
      case DedupeWithin => all.groupBy("key").agg(max("value").as("value"))
      case _            => aggregation.fold(all)(_.merged(all))
    }
  }

  /** The same of which nothing is merged yet: they have the same columns. */
  def unmerged: DataFrame = computed.toOption.get

  def table: EvolvedTable = {
    val columns = fields.map(it => EvolvedColumn(it.path, it.text, it.aggregate))
    EvolvedTable(fresh.name, Some(placeOf(old)), columns, merges)
  }

  /** Columns of the rows before that are not taken. */
  def lost: Seq[String] =
    (unused.filterNot(_.endsWith(Placeholder)) ++ fields.flatMap(_.lost)).map { it =>
      s"column $it of ${placeOf(old)}"
    }

  def warnings: Seq[String] = sources.warnings ++ {
    val empty = fields.filter(it => it.aggregate.nonEmpty && it.takes.isEmpty && it.value.isRight)
    Option.when(before.nonEmpty && empty.nonEmpty && unused.exists(_.startsWith("value.")))(
      s"$place: ${empty.flatMap(_.aggregate).distinct.mkString(", ")} starts empty while columns are lost: if one " +
        "is the other, only written otherwise, say so with --set"
    )
  }

  val refusals: Seq[String] = {
    val unknown = sources.values.keys.toSeq.filterNot(sources.paths.contains).map { path =>
      s"$place has no column $path, which is given a value; it has ${sources.paths.mkString(", ")}"
    }
    val found = unknown ++ fields.flatMap(_.value.left.toOption) ++
      (if (merges) refusalOfMerge else None) ++ refusalOfOthers
    if (found.nonEmpty) found else computed.left.toSeq
  }

  private def refusalOfMerge: Option[String] = {
    val dropped = s"by the columns of its key, rows of several keys of $place may become one"
    aggregation match {
      case _ if Mergeable(fresh.operatorName) => None
      case Some(it) if !it.isSession          =>
        it.aggregates.find(_.needsOrder).map { aggregate =>
          s"$dropped, and ${aggregate.text} of several groups is not what it would be of all their rows"
        }
      case _ => Some(s"$dropped, and Keyfold cannot merge those of a ${fresh.operatorName}")
    }
  }

  /** Rows without any of their values are those of something else. */
  private def refusalOfOthers: Option[String] = {
    val values = sources.pathsBefore.filter { it =>
      OfValues.exists(column => it.startsWith(s"$column.")) && !it.endsWith(Placeholder)
    }
    val takes = fields.flatMap(_.takes).toSet
    if (old.family != fresh.family && fresh.name == Timers)
      Some(s"$place are timers of another kind of time")
    else
      Option.when(values.nonEmpty && aggregation.isEmpty && !values.exists(takes))(
        s"$place has no column of ${placeOf(old)} but its key, so it seems to be something else: give its columns " +
          "values with --set, or another table with --map"
      )
  }
}

private object TableSource {
  private val Dedupe = "dedupe"
  private val DedupeWithin = "dedupeWithinWatermark"
  private val Timers = "timers"

  /** Of which Keyfold knows how, besides aggregations; a side of a join has many rows of a key. */
  private val Mergeable = Set(Dedupe, DedupeWithin, "symmetricHashJoin")

  private val OfValues = Seq("value", "user_map_value", "list_element")

  private def isOfKey(path: String) =
    path.startsWith("key.") || path.startsWith("user_map_key.")

  /** What Spark has as the value of what has none. */
  private val Placeholder = ".__dummy__"
}
