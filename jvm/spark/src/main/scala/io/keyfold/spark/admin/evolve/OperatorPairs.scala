package io.keyfold.spark.admin.evolve

import io.keyfold.spark.rewrite.StateTable

/** Which operator of a checkpoint each operator of a changed query takes the state of, and which
  * table each of its tables: as the user says, else of the same kind with the most columns of the
  * same names.
  */
private final class OperatorPairs(fresh: Seq[StateTable], old: Seq[StateTable], choices: Choices) {

  private val asked = choices.operators.map(_.swap)

  private val scores: Map[(Long, Long), Int] = (for {
    one <- fresh.map(_.operator).distinct if !asked.contains(one)
    other <- old.map(_.operator).distinct if !choices.operators.contains(other)
    score <- score(tablesOf(fresh, one), tablesOf(old, other))
  } yield (one, other) -> score).toMap

  /** Number in the checkpoint, by number in the changed query. */
  val operators: Map[Long, Long] =
    scores.toSeq.sortBy { case (pair, score) => (-score, pair) }.foldLeft(asked) {
      case (pairs, ((one, other), _)) =>
        if (pairs.contains(one) || pairs.values.exists(_ == other)) pairs
        else pairs.updated(one, other)
    }

  /** Operators that would fit another one as well. */
  private val unclear = operators.toSeq.sorted.filter { case (one, other) =>
    scores.exists { case ((a, b), score) =>
      (a == one) != (b == other) && scores.get(one -> other).contains(score)
    }
  }

  /** Of some operators there are fewer or more than before, and which one is new cannot be told. */
  def refusals: Seq[String] = hidden ++ unclear.filterNot(hasSameNumber).map { case (one, _) =>
    s"several operators of the checkpoint and of the query are like operator $one: say with --map OLD=NEW which " +
      s"state it takes; the checkpoint has ${old.map(FieldSources.placeOf).mkString(", ")}"
  }

  /** Tables of the same name: timers, and a variable. */
  private def hidden = for {
    (tables, whose, remedy) <- Seq(
      (old, "checkpoint", "which cannot be told apart"),
      (fresh, "query", "which could not be told apart: rename the variable")
    )
    (operator, names) <- tables.groupMap(_.operator)(_.name)
    name <- names.diff(names.distinct)
  } yield s"operator $operator of the $whose has timers and a state variable $name, $remedy"

  /** What is decided by the order of operators. */
  def warnings: Seq[String] = unclear.filter(hasSameNumber).map { case (one, other) =>
    s"operator $one takes operator $other by its place alone, as several are alike: if their order has changed, " +
      "say so with --map"
  }

  private def hasSameNumber(pair: (Long, Long)) = {
    val kind = tablesOf(fresh, pair._1).head.operatorName
    def number(in: Seq[StateTable]) =
      in.filter(_.operatorName == kind).map(_.operator).distinct.length
    number(fresh) == number(old)
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
  def unknown: Seq[String] = {
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
      choices.values.keys.toSeq.flatMap { case (operator, table) =>
        val empty =
          fresh.find(it => it.operator == operator && it.name == table && tableFor(it).isEmpty)
        ofFresh(operator, Some(table)) ++ empty.map { it =>
          s"${FieldSources.placeOf(it)} takes no rows, so that --set has nothing to compute from: say with --map whose"
        }
      }
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
