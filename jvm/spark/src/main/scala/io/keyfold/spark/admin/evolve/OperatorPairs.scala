package io.keyfold.spark.admin.evolve

import io.keyfold.spark.rewrite.StateTable

/** Which operator of a checkpoint each operator of a changed query takes the state of, and which
  * table each of its tables: as the user says, else of the same kind with the most columns of the
  * same names.
  */
private final class OperatorPairs(fresh: Seq[StateTable], old: Seq[StateTable], choices: Choices) {

  /** Number in the checkpoint, by number in the changed query. */
  val operators: Map[Long, Long] = {
    val asked = choices.operators.map(_.swap)
    val scores = for {
      one <- fresh.map(_.operator).distinct if !asked.contains(one)
      other <- old.map(_.operator).distinct if !choices.operators.contains(other)
      score <- score(tablesOf(fresh, one), tablesOf(old, other))
    } yield (one, other, score)
    scores.sortBy { case (one, other, score) => (-score, one, other) }.foldLeft(asked) {
      case (pairs, (one, other, _)) =>
        if (pairs.contains(one) || pairs.values.exists(_ == other)) pairs
        else pairs.updated(one, other)
    }
  }

  /** The table that a table takes the rows of; None: it starts empty. */
  def tableFor(table: StateTable): Option[StateTable] = {
    val place = choices.tables.get((table.operator, table.name)).orElse {
      operators.get(table.operator).map(_ -> table.name)
    }
    place.flatMap { case (operator, name) =>
      old.find(it => it.operator == operator && it.name == name)
    }
  }

  /** What the user has named, and what is not there. */
  val unknown: Seq[String] = {
    def missing(in: Seq[StateTable], where: String)(operator: Long, table: Option[String]) =
      Option.unless(in.exists(it => it.operator == operator && table.forall(_ == it.name))) {
        s"$where has no operator $operator${table.fold("")(it => s" with a table $it")}; it has " +
          in.map(FieldSources.placeOf).mkString(", ")
      }
    val ofOld = missing(old, "the checkpoint") _
    val ofFresh = missing(fresh, "the query") _
    choices.operators.toSeq.flatMap { case (a, b) => ofOld(a, None) ++ ofFresh(b, None) } ++
      choices.tables.toSeq.flatMap { case ((b, to), (a, from)) =>
        ofOld(a, Some(from)) ++ ofFresh(b, Some(to))
      } ++
      choices.values.keys.toSeq.flatMap { case (operator, table) => ofFresh(operator, Some(table)) }
  }

  private def tablesOf(all: Seq[StateTable], operator: Long) = all.filter(_.operator == operator)

  /** None if they are of another kind, or have nothing in common. */
  private def score(one: Seq[StateTable], other: Seq[StateTable]): Option[Int] =
    if (one.head.operatorName != other.head.operatorName) None
    else {
      val same = for (a <- one; b <- other if a.name == b.name) yield {
        val keys = fields(a, "key").intersect(fields(b, "key")).length
        // Of one column that was renamed.
        val alike = typesOf(a) == typesOf(b)
        1 + 4 * keys + fields(a, "value").intersect(fields(b, "value")).length + (if (alike) 2
                                                                                  else 0)
      }
      Option.when(same.nonEmpty)(same.sum)
    }

  private def fields(table: StateTable, column: String): Seq[String] =
    FieldSources.structOf(table, column).fieldNames.toSeq

  private def typesOf(table: StateTable) = FieldSources.structOf(table, "key").map(_.dataType)
}
