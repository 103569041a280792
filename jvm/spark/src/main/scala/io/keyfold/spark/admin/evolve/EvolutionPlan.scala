package io.keyfold.spark.admin.evolve

/** The checkpoint of a changed query, made of that of the query before, planned or done.
  *
  * @param lastBatch
  *   the newest committed batch, whose state is taken; -1 if there is none
  * @param operators
  *   of the changed query
  * @param lost
  *   what of the state no operator takes: operators, tables, columns and state variables
  * @param sources
  *   how each source of the changed query goes on
  * @param rows
  *   number of rows that were carried over; None: it was not done
  * @param warnings
  *   what to check before it, a sentence each
  * @param refusals
  *   why it is refused, one sentence each
  */
final case class EvolutionPlan(
    checkpoint: String,
    target: String,
    lastBatch: Long,
    operators: Seq[EvolvedOperator] = Nil,
    lost: Seq[String] = Nil,
    sources: Seq[String] = Nil,
    rows: Option[Long] = None,
    warnings: Seq[String] = Nil,
    refusals: Seq[String] = Nil
)

/** An operator of the changed query.
  *
  * @param source
  *   the operator whose state it takes; None: it starts empty
  */
final case class EvolvedOperator(
    operator: Long,
    name: String,
    source: Option[Long],
    tables: Seq[EvolvedTable]
)

/** A table of its state.
  *
  * @param source
  *   the table that it takes; None: it starts empty
  * @param merges
  *   whether rows of several keys become one
  */
final case class EvolvedTable(
    name: String,
    source: Option[String],
    columns: Seq[EvolvedColumn],
    merges: Boolean
)

/** A column of a table, or a field of one.
  *
  * @param source
  *   the column that it takes, an expression, or what it starts as
  * @param aggregate
  *   that it belongs to
  */
final case class EvolvedColumn(name: String, source: String, aggregate: Option[String])
