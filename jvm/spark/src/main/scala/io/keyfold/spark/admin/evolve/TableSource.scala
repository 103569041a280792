package io.keyfold.spark.admin.evolve

import io.keyfold.spark.rewrite.StateTable
import org.apache.spark.sql.functions.{first, max, struct}
import org.apache.spark.sql.keyfold.{PlannedAggregation, SparkRows}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{AnalysisException, DataFrame}

/** The rows of a table, computed from those of a table of the query before.
  *
  * @param values
  *   expressions that a user has given, by path
  * @param aggregation
  *   of the changed query, if the table is that of one
  * @param before
  *   of the query that wrote the rows, if it is known
  */
private final class TableSource(
    fresh: StateTable,
    old: StateTable,
    values: Map[String, String],
    aggregation: Option[PlannedAggregation],
    before: Option[PlannedAggregation]
) {
  import FieldSources.placeOf
  import TableSource._

  private val place = placeOf(fresh)
  private val sources = new FieldSources(fresh, old, values, aggregation, before)
  private val fields = sources.all.flatMap(_._2)
  private val unused = sources.pathsBefore.filterNot(fields.flatMap(_.takes).toSet)
  private val lostKeys = unused.filter(_.startsWith("key."))
  private def canMerge = aggregation.exists(_.canMerge)

  /** Rows of several keys may become one. */
  private val merges =
    lostKeys.nonEmpty || (canMerge && values.keys.exists(_.startsWith("key.")))

  /** The rows, with the columns of the table; or why they cannot be made. */
  lazy val frame: Either[String, DataFrame] =
    try {
      val types = SparkRows.nullable(fresh.columns)
      val columns = sources.all.map { case (column, its) =>
        val found = its.map(_.value.toOption.get)
        val whole = column.dataType match {
          case named: StructType if its.map(_.path) != Seq(column.name) =>
            struct(found.zip(named).map { case (value, it) => value.as(it.name) }: _*)
          case _ => found.head
        }
        whole.cast(types(column.name).dataType).as(column.name)
      }
      val rows = old.rows.select(columns: _*)
      Right(if (merges) merged(rows) else rows)
    } catch {
      case e: AnalysisException =>
        Left(s"$place cannot be computed: ${e.getMessage.linesIterator.next().stripSuffix(".")}")
    }

  def table: EvolvedTable = {
    val columns = fields.map(it => EvolvedColumn(it.path, it.text, it.aggregate))
    EvolvedTable(fresh.name, Some(placeOf(old)), columns, merges)
  }

  /** Columns of the rows before that are not taken. */
  def lost: Seq[String] =
    unused.filterNot(_.endsWith(Placeholder)).map(it => s"column $it of ${placeOf(old)}")

  def warnings: Seq[String] = Option
    .when(sources.isByOrder)(
      s"$place has several aggregates whose columns have the same names: they are taken in their order; if " +
        "that has changed, give the query before with --from"
    )
    .toSeq

  val refusals: Seq[String] = {
    val unknown = values.keys.toSeq.filterNot(sources.paths.contains).map { path =>
      s"$place has no column $path, which is given a value; it has ${sources.paths.mkString(", ")}"
    }
    val found = unknown ++ fields.flatMap(_.value.left.toOption) ++
      (if (lostKeys.nonEmpty) refusalOfMerge else None)
    if (found.nonEmpty) found else frame.left.toSeq
  }

  private def merged(rows: DataFrame) = fresh.operatorName match {
    case Dedupe       => rows.groupBy("key").agg(first("value").as("value"))
    case DedupeWithin => rows.groupBy("key").agg(max("value").as("value"))
    case _            => aggregation.filter(_.canMerge).fold(rows)(_.merged(rows))
  }

  private def refusalOfMerge: Option[String] = {
    val dropped =
      s"without ${lostKeys.mkString(" and ")}, rows of several keys of $place become one"
    aggregation match {
      case _ if Mergeable(fresh.operatorName) => None
      case Some(it) if it.canMerge            =>
        it.aggregates.find(_.needsOrder).map { aggregate =>
          s"$dropped, and ${aggregate.text} of several groups is not what it would be of all their rows"
        }
      case _ => Some(s"$dropped, and Keyfold cannot merge those of a ${fresh.operatorName}")
    }
  }
}

private object TableSource {
  private val Dedupe = "dedupe"
  private val DedupeWithin = "dedupeWithinWatermark"

  /** Of which Keyfold knows how, besides aggregations; a side of a join has many rows of a key. */
  private val Mergeable = Set(Dedupe, DedupeWithin, "symmetricHashJoin")

  /** What Spark has as the value of what has none. */
  private val Placeholder = ".__dummy__"
}
