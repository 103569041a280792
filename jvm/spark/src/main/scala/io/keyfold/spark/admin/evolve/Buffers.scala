package io.keyfold.spark.admin.evolve

import scala.collection.mutable

import org.apache.spark.sql.keyfold.PlannedAggregation.Aggregate

/** Finds which buffers in a checkpoint belong to the aggregates of a changed query. Its schema has
  * only their names, such as `sum`: which sum it is only a query says.
  */
private object Buffers {

  /** A buffer in a checkpoint.
    *
    * @param column
    *   its name in the table, where each name is there once
    * @param name
    *   that the aggregate gives it
    */
  final case class Buffer(column: String, name: String)

  /** Where an aggregate starts. */
  sealed trait Start
  final case class From(columns: Seq[String]) extends Start
  case object Empty extends Start

  /** Several aggregates have buffers of the same names, and not as many as before. */
  case object Unknown extends Start

  /** For each aggregate where it starts; and whether the order alone tells some apart. */
  final case class Found(starts: Seq[Start], byOrder: Boolean)

  /** @param before
    *   the buffers in the checkpoint
    * @param asked
    *   the aggregates of the query that wrote them, if it is given; None if there is none
    */
  def find(
      aggregates: Seq[Aggregate],
      before: Seq[Buffer],
      asked: Option[Seq[Aggregate]]
  ): Found = {
    asked.fold(byNames(aggregates, before))(byText(aggregates, before, _))
  }

  private def byText(aggregates: Seq[Aggregate], before: Seq[Buffer], asked: Seq[Aggregate]) = {
    val ends = asked.scanLeft(0)(_ + _.buffers.length)
    val places =
      asked.zip(ends).map { case (it, from) => it.text -> (from, it.buffers.length) }.toMap
    val starts = aggregates.map { it =>
      places.get(it.text).fold[Start](Empty) { case (from, length) =>
        From(before.slice(from, from + length).map(_.column))
      }
    }
    Found(starts, byOrder = false)
  }

  /** The longest first: an average has the buffers of a sum and of a count. */
  private def byNames(aggregates: Seq[Aggregate], before: Seq[Buffer]) = {
    val starts = mutable.HashMap.empty[Int, Start]
    val used = mutable.HashSet.empty[Int]
    var byOrder = false
    val alike = aggregates.indices.groupBy(aggregates(_).buffers).toSeq
    for ((names, numbers) <- alike.sortBy { case (names, its) => (-names.length, its.head) }) {
      val free = runsOf(names, before, used)
      if (free.length == numbers.length) {
        byOrder ||= free.length > 1
        for ((number, places) <- numbers.zip(free)) {
          used ++= places
          starts(number) = From(places.map(before(_).column))
        }
      } else numbers.foreach(starts(_) = if (free.isEmpty) Empty else Unknown)
    }
    Found(aggregates.indices.map(starts), byOrder)
  }

  /** Places where buffers have these names, one behind the other, without those that are used. */
  private def runsOf(names: Seq[String], before: Seq[Buffer], used: collection.Set[Int]) = {
    val found = mutable.Buffer.empty[Range]
    var from = 0
    while (from + names.length <= before.length) {
      val places = from until from + names.length
      if (!places.exists(used) && places.map(before(_).name) == names) {
        found += places
        from = places.end
      } else from += 1
    }
    found.toSeq
  }
}
