package io.keyfold.spark.admin.evolve

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.write.StateWrite
import io.keyfold.spark.checkpoint.CheckpointTools
import io.keyfold.spark.rewrite.{StateTable, UndeclaredVariables}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.keyfold.EmptyInput.Planned

/** Compares the state of a checkpoint with that of a changed query.
  *
  * @param made
  *   of a checkpoint of the changed query, which has no rows yet
  * @param last
  *   the batch whose state is taken
  * @param now
  *   what the changed query has shown
  * @param asked
  *   the same of the query that wrote the state, if it is at hand, and what Spark says of its
  *   operators
  */
private final class EvolutionPlanner(
    tools: CheckpointTools,
    made: CheckpointTools,
    last: Long,
    now: Planned,
    asked: Option[(Planned, Seq[OperatorStateMetadata])],
    choices: Choices
) {
  private val before = asked.map(_._1)
  private val described = tools.logs.metadata(last)

  /** Whether the checkpoint says what its operators are; else a query does. */
  private val isDescribed = described.nonEmpty
  private val operators =
    if (isDescribed) described else asked.fold(made.logs.metadata(0))(_._2)

  /** Whether a query's operators cannot be those that have the state. */
  private val unlike = {
    val (its, known) =
      (tools.logs.operatorFolders, operators.map(_.operatorInfo.operatorId).sorted)
    Option.when(!isDescribed && its != known)(
      s"The checkpoint has state of the operators ${its.mkString(", ")}, and the query has the operators " +
        s"${known.mkString(", ")}: give the query that wrote it with --from."
    )
  }

  private val fresh = {
    val first = made.logs.lastCommitted.get
    StateTable.all(made, first, made.logs.metadata(first))
  }
  private val old = if (unlike.isEmpty) StateTable.all(tools, last, operators) else Nil
  private val pairs = new OperatorPairs(fresh, old, choices)

  private val taken: Seq[(StateTable, StateTable)] =
    fresh.flatMap(table => pairs.tableFor(table).map(table -> _))
  private val unreadable = taken
    .flatMap { case (a, b) => a.refusal.map(a -> _) ++ b.refusal.map(b -> _) }
    .map { case (table, why) =>
      s"Rows of ${FieldSources.placeOf(table)} cannot be carried over: $why."
    }
    .distinct

  private val filled: Map[StateTable, TableSource] =
    (for ((table, from) <- taken if table.refusal.isEmpty && from.refusal.isEmpty) yield {
      val fields = new FieldSources(
        table,
        from,
        choices.values.getOrElse((table.operator, table.name), Map.empty),
        now.aggregations.find(_.operator == table.operator),
        before.flatMap(_.aggregations.find(_.operator == from.operator))
      )
      table -> new TableSource(fields)
    }).toMap

  private val timeouts = new TimeoutKinds(taken, now, before, choices)

  /** How each source goes on. */
  val sources = new SourcePairs(tools, made, last, now, before, choices)

  /** The rows of each table that takes some. */
  def writes: Seq[(StateTable, DataFrame)] =
    fresh.flatMap(table => filled.get(table).map(table -> _.rows))

  def plan(to: String): EvolutionPlan = {
    val its = fresh.flatMap(filled.get)
    val found = pairs.unknown ++ pairs.refusals ++ timeouts.refusals ++ its.flatMap(_.refusals)
    val refusals =
      unlike.toSeq ++ unreadable ++ unknownBefore ++ sources.refusals ++ found.map(sentence)
    val warnings = undescribed.toSeq ++ pairs.warnings ++ timeouts.warnings ++ sources.warnings ++
      its.flatMap(_.warnings)
    EvolutionPlan(
      tools.logs.location,
      to,
      last,
      evolved,
      lost ++ its.flatMap(_.lost) ++ undeclared,
      sources.described,
      None,
      CheckpointTools.MustBeStopped +: warnings,
      if (unlike.nonEmpty) unlike.toSeq
      else if (refusals.nonEmpty) refusals
      else refusalsOfRows
    )
  }

  private def evolved =
    fresh.map(it => it.operator -> it.operatorName).distinct.map { case (id, name) =>
      val tables = fresh.filter(_.operator == id).map { table =>
        filled.get(table).fold(EvolvedTable(table.name, None, Nil, merges = false))(_.table)
      }
      EvolvedOperator(id, name, pairs.operators.get(id), tables)
    }

  private def lost = {
    val left = old.filterNot(it => taken.exists(_._2 eq it))
    left.groupBy(_.operator).toSeq.sortBy(_._1).flatMap { case (operator, tables) =>
      if (tables.length == old.count(_.operator == operator))
        Seq(s"operator $operator (${tables.head.operatorName})")
      else tables.map(it => s"table ${it.name} of operator $operator")
    }
  }

  private def undeclared = for {
    operator <- operators if unlike.isEmpty && isDescribed
    name <- new UndeclaredVariables(tools, last).in(operator)
  } yield s"variable $name of operator ${operator.operatorInfo.operatorId}, which the last run of the query before " +
    "did not declare"

  /** A Spark before 4.0 does not say what its operators are. */
  private def undescribed = Option.when(!isDescribed)(
    "the checkpoint does not say what its operators are, as a Spark before 4.0 has written it: they are taken to be " +
      "those of " + (if (before.isEmpty)
                       "this query; give the query before with --from if it had others"
                     else "the query that --from gives")
  )

  /** What --from gives, if it is not the query that wrote the state. */
  private def unknownBefore = for {
    query <- before.toSeq
    (table, from) <- taken if now.aggregations.exists(_.operator == table.operator)
    if !query.aggregations.exists(_.operator == from.operator)
  } yield s"The query that --from gives has no aggregation as its operator ${from.operator}."

  /** Whether the rows fit; asked only of rows that can be made. */
  private def refusalsOfRows: Seq[String] = filled.toSeq.flatMap { case (table, source) =>
    val rows = Some(source.unmerged)
    try
      new StateWrite(made, table.operator, table.name, rows, None, replaces = false).plan().refusals
    catch { case e: Invalid => Seq(e.getMessage) }
  }

  private def sentence(text: String) = s"${text.capitalize}."
}
