package io.keyfold.spark.admin.evolve

import scala.collection.mutable

import org.apache.spark.sql.keyfold.PlannedAggregation.Aggregate
import org.apache.spark.sql.types.{BinaryType, DataType}

/** Finds which buffers in a checkpoint belong to the aggregates of a changed query. Its schema has
  * only their names, such as `sum`: which sum it is only the query says that wrote them.
  */
private object Buffers {

  /** A buffer in a checkpoint.
    *
    * @param column
    *   its name in the table, where each name is there once
    * @param name
    *   that the aggregate gives it
    */
  final case class Buffer(column: String, name: String, of: DataType)

  /** Where an aggregate starts. */
  sealed trait Start

  /** @param isByOrder
    *   whether several are written so, of which it is the one in its place
    */
  final case class From(columns: Seq[String], isByOrder: Boolean = false) extends Start
  case object Empty extends Start

  /** It cannot be told, for a reason. */
  final case class Unknown(why: String) extends Start

  private val AskForQuery = "give the query before with --from"

  /** For each aggregate where it starts, by names of buffers alone. The longest are found first: an
    * average has the buffers of a sum and of a count.
    *
    * @param before
    *   the buffers in the checkpoint
    */
  def byNames(aggregates: Seq[Aggregate], before: Seq[Buffer]): Seq[Start] =
    if (aggregates.flatMap(_.buffers) == before.map(_.name) && !before.exists(_.of == BinaryType)) {
      val ends = aggregates.scanLeft(0)(_ + _.buffers.length)
      aggregates.zip(ends).map { case (it, from) =>
        From(before.slice(from, from + it.buffers.length).map(_.column))
      }
    } else byLongest(aggregates, before)

  private def byLongest(aggregates: Seq[Aggregate], before: Seq[Buffer]): Seq[Start] = {
    val used = mutable.HashSet.empty[Int]
    val alike = aggregates.indices.groupBy(aggregates(_).buffers).toSeq
    val found =
      for ((names, its) <- alike.sortBy { case (names, its) => (-names.length, its.head) }) yield {
        val free = runsOf(names, before, used)
        if (free.isEmpty) its.map(_ -> Empty)
        else if (free.flatten.exists(before(_).of == BinaryType))
          its.map(_ -> Unknown(s"no checkpoint says what its bytes are: $AskForQuery"))
        else if (free.length != its.length)
          its.map(_ -> Unknown(s"several have its name: $AskForQuery"))
        else {
          used ++= free.flatten
          its.zip(free.map(places => From(places.map(before(_).column))))
        }
      }
    val starts = found.flatten.toMap[Int, Start]
    aggregates.indices.map(starts)
  }

  /** The same, if the query before is known.
    *
    * @param asked
    *   its aggregates
    */
  def byQuery(aggregates: Seq[Aggregate], before: Seq[Buffer], asked: Seq[Aggregate]): Seq[Start] =
    if (asked.flatMap(_.buffers) != before.map(_.name)) {
      val why =
        "the query that --from gives has other aggregates than the one that wrote the checkpoint"
      aggregates.map(_ => Unknown(why))
    } else {
      val places = asked.zip(asked.scanLeft(0)(_ + _.buffers.length))
      aggregates.zipWithIndex.map { case (it, number) =>
        val same = places.filter { case (other, _) => isSame(it, other) }
        // Texts do not tell those of two tables with a column of one name apart: by their order.
        val nth = aggregates.take(number).count(isSame(it, _))
        if (same.isEmpty) Empty
        else if (same.length != aggregates.count(isSame(it, _)))
          Unknown("the query before has it more or less often")
        else {
          val (other, from) = same(nth)
          val its = before.slice(from, from + other.buffers.length)
          if (its.exists(_.of == BinaryType) && it.types != other.types)
            Unknown("it aggregated values of other types, and its bytes cannot be changed")
          else From(its.map(_.column), isByOrder = same.length > 1)
        }
      }
    }

  private def isSame(one: Aggregate, other: Aggregate) =
    one.text == other.text && one.kind == other.kind && one.buffers == other.buffers

  /** Places where buffers have these names, one behind the other, and the next one does not go on
    * with the same aggregate; without those that are used.
    */
  private def runsOf(names: Seq[String], before: Seq[Buffer], used: collection.Set[Int]) = {
    val found = mutable.Buffer.empty[Range]
    var from = 0
    while (from + names.length <= before.length) {
      val places = from until from + names.length
      val goesOn = before.lift(places.end).exists(it => isContinued(it.name))
      if (!places.exists(used) && !goesOn && places.map(before(_).name) == names) {
        found += places
        from = places.end
      } else from += 1
    }
    found.toSeq
  }

  /** Whether it is never the first buffer: the words of an approximate count but the first, whether
    * a decimal sum has no value, whether a first value was set.
    */
  private def isContinued(name: String) =
    (name.startsWith("MS[") && name != "MS[0]") || name == "isEmpty" || name == "valueSet"
}
