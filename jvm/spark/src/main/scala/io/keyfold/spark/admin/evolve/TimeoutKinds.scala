package io.keyfold.spark.admin.evolve

import io.keyfold.spark.rewrite.StateTable
import org.apache.spark.sql.keyfold.EmptyInput.Planned

/** Whether timeouts of mapGroupsWithState are still of the same kind of time: their times are in
  * the state, and the state does not say of which kind.
  *
  * @param taken
  *   tables of the changed query, with those that they take the rows of
  */
private final class TimeoutKinds(
    taken: Seq[(StateTable, StateTable)],
    now: Planned,
    before: Option[Planned],
    choices: Choices
) {
  import TimeoutKinds._

  /** Each table whose times are taken as they are: what it has, and what it had if that is known.
    */
  private val kinds = for {
    (table, from) <- taken
    if Seq(table, from).forall(hasTime) && !isGiven(table)
    kind <- now.timeouts.get(table.operator)
  } yield (table, kind, before.flatMap(_.timeouts.get(from.operator)))

  def warnings: Seq[String] = kinds.collect { case (table, kind, None) =>
    s"${FieldSources.placeOf(table)}: the state does not say of which kind of time its timeouts are: check that " +
      s"the query before had $kind too"
  }

  def refusals: Seq[String] = kinds.collect {
    case (table, kind, Some(other)) if kind != other =>
      val place = FieldSources.placeOf(table)
      s"the timeout of $place is $kind and was $other, which has another kind of time: give it a value with " +
        s"--set ${place.stripPrefix("operator ")}.$Path=EXPRESSION, in milliseconds since 1970; -1L is none"
  }

  private def isGiven(table: StateTable) =
    choices.values.get((table.operator, table.name)).exists(_.contains(Path))
}

private object TimeoutKinds {
  private val Column = "value"
  private val Field = "timeoutTimestamp"
  private val Path = s"$Column.$Field"

  private def hasTime(table: StateTable) =
    FieldSources.structOf(table, Column).fieldNames.contains(Field)
}
