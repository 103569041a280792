package io.keyfold.spark.admin.evolve

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.write.StateWrite
import io.keyfold.spark.checkpoint.{CheckpointTools, LogEntry}
import io.keyfold.spark.rewrite.{StateTable, StateTables}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.keyfold.PlannedAggregation

/** Compares the state of a checkpoint with that of a changed query.
  *
  * @param made
  *   of a checkpoint of the changed query, which has no rows yet
  * @param last
  *   the batch whose state is taken
  */
private final class EvolutionPlanner(
    tools: CheckpointTools,
    made: CheckpointTools,
    last: Long,
    aggregations: Seq[PlannedAggregation],
    before: Seq[PlannedAggregation],
    choices: Choices
) {
  private val fresh = StateTables.of(made, made.logs.lastCommitted.get)
  private val old = StateTables.of(tools, last)
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
      val source = new TableSource(
        table,
        from,
        choices.values.getOrElse((table.operator, table.name), Map.empty),
        aggregations.find(_.operator == table.operator),
        before.find(_.operator == from.operator)
      )
      table -> source
    }).toMap

  private val ofQuery = LogEntry.read(made.files, "offsets/0").sources
  private val ofCheckpoint = LogEntry.read(tools.files, s"offsets/$last").sources

  /** For each source of the changed query that of the checkpoint; None: it begins anew. */
  val sources: Seq[Option[Int]] =
    choices.sources.getOrElse(ofQuery.indices.map(Some(_)))

  /** The rows of each table that takes some. */
  lazy val writes: Seq[(StateTable, DataFrame)] =
    fresh.flatMap(table => filled.get(table).flatMap(_.frame.toOption).map(table -> _))

  def plan(to: String): EvolutionPlan = {
    val its = fresh.flatMap(filled.get)
    val refusals = unreadable ++ pairs.unknown.map(sentence) ++ refusalOfSources ++
      its.flatMap(_.refusals).map(sentence)
    EvolutionPlan(
      tools.logs.location,
      to,
      last,
      operators,
      lost ++ its.flatMap(_.lost),
      sources.map(describe),
      None,
      CheckpointTools.MustBeStopped +: its.flatMap(_.warnings),
      if (refusals.nonEmpty) refusals else refusalsOfRows
    )
  }

  private def operators =
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

  /** Whether the rows fit; asked only of rows that can be made. */
  private def refusalsOfRows: Seq[String] = writes.flatMap { case (table, rows) =>
    try {
      val write = new StateWrite(
        made,
        table.operator,
        table.name,
        Some(rows),
        None,
        replaces = false
      )
      write.plan().refusals
    } catch { case e: Invalid => Seq(e.getMessage) }
  }

  private def describe(source: Option[Int]) = source match {
    case None     => "begins anew"
    case Some(it) =>
      s"source $it at ${ofCheckpoint.lift(it).getOrElse("?")}"
  }

  private def refusalOfSources: Option[String] = {
    val (own, its) = (ofQuery.length, ofCheckpoint.length)
    val say = s"The query has $own sources and the checkpoint $its"
    choices.sources match {
      case None if own != its =>
        Some(
          s"$say: give for each of the query, in its order, the number of that in the checkpoint, or " +
            "new, with --sources, such as --sources 0,new."
        )
      case Some(all) if all.length != own => Some(s"$say, and --sources has ${all.length}.")
      case Some(all) if all.flatten.exists(_ >= its) =>
        Some(s"$say, and --sources has ${all.flatten.max}.")
      case _ => None
    }
  }

  private def sentence(text: String) = s"${text.capitalize}."
}
