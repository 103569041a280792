package io.keyfold.spark.admin.evolve

import io.keyfold.errors.Invalid

/** What a user has said of an evolution, where it would be guessed otherwise.
  *
  * @param operators
  *   number in the changed query, by number in the checkpoint
  * @param tables
  *   operator and name of the table in the checkpoint, by those in the changed query
  * @param values
  *   expressions of SQL over the rows in the checkpoint, by operator and table of the changed
  *   query, then by column
  * @param sources
  *   for each source of the changed query that of the checkpoint which it goes on with; None: it
  *   begins anew
  */
private[admin] final case class Choices(
    operators: Map[Long, Long],
    tables: Map[(Long, String), (Long, String)],
    values: Map[(Long, String), Map[String, String]],
    sources: Option[Seq[Option[Int]]]
)

private[admin] object Choices {
  private val Operators = """(\d+)=(\d+)""".r
  private val Tables = """(\d+)/(.+)=(\d+)/(.+)""".r
  private val Value = """(?s)(\d+)(?:/([^.=]+))?\.([^=]+)=(.+)""".r

  /** @param map
    *   `OLD=NEW` or `OLD/TABLE=NEW/TABLE`
    * @param set
    *   `OPERATOR.COLUMN=EXPRESSION` or `OPERATOR/TABLE.COLUMN=EXPRESSION`
    * @param sources
    *   numbers, or `new`
    * @throws io.keyfold.errors.Invalid
    *   if one has another form
    */
  def of(map: Seq[String], set: Seq[String], sources: Seq[String]): Choices = {
    val pairs = map.map {
      case Operators(old, fresh)                  => Left(old.toLong -> fresh.toLong)
      case Tables(old, oldTable, fresh, newTable) =>
        Right((fresh.toLong, newTable) -> (old.toLong, oldTable))
      case other => throw invalid("map", other, "0=1, or 0/total=0/count")
    }
    val values = set.map {
      case Value(operator, table, column, value) =>
        (operator.toLong, Option(table).getOrElse("default")) -> (column.trim -> value.trim)
      case other => throw invalid("set", other, "0.value.total=value.sum, or 0/count.value.total=0")
    }
    val numbers = sources.map {
      case "new"                        => None
      case it if it.matches("\\d{1,4}") => Some(it.toInt)
      case other                        => throw invalid("sources", other, "0, or new")
    }
    Choices(
      pairs.collect { case Left(it) => it }.toMap,
      pairs.collect { case Right(it) => it }.toMap,
      values.groupMap(_._1)(_._2).map { case (table, its) => table -> its.toMap },
      Option.when(sources.nonEmpty)(numbers)
    )
  }

  private def invalid(option: String, it: String, example: String) =
    new Invalid(
      "KEYFOLD_INVALID_ARGUMENT",
      s"Invalid --$option: '$it' is not of the form $example."
    )
}
