package io.keyfold.spark.rewrite

import io.keyfold.spark.checkpoint.CheckpointTools
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.types.{StructField, StructType}

/** A table of an operator's state, to be read by Spark.
  *
  * @param operator
  *   its number in the query
  * @param family
  *   name of the column family that has the rows
  * @param columns
  *   as `write_state` takes them; the fields of one may have the same name
  * @param refusal
  *   why it cannot be read or written; it has no columns then
  */
private[spark] final class StateTable private[rewrite] (
    val operator: Long,
    val operatorName: String,
    val name: String,
    val family: String,
    val columns: StructType,
    val refusal: Option[String],
    stored: => DataFrame
) {

  /** The same columns, in which each name is there once. */
  val named: StructType = StructType(columns.map {
    case it @ StructField(_, struct: StructType, _, _) => it.copy(dataType = unique(struct))
    case it                                            => it
  })

  /** All rows, with the columns `named`. Those of a list are in their order. */
  def rows: DataFrame = {
    val read = stored
    read.select(named.toSeq.map(it => read.col(it.name).cast(it.dataType).as(it.name)): _*)
  }

  private def unique(struct: StructType) = StructType(struct.zipWithIndex.map { case (it, i) =>
    val before = struct.take(i).count(_.name == it.name)
    if (before == 0) it else it.copy(name = s"${it.name}_${before + 1}")
  })
}

/** The tables of all operators after a committed batch, of any provider. */
private[spark] object StateTables {

  /** @param operators
    *   what Spark says of the batch's operators
    */
  def of(
      tools: CheckpointTools,
      batch: Long,
      operators: Seq[OperatorStateMetadata]
  ): Seq[StateTable] =
    for {
      operator <- operators
      info = operator.operatorInfo
      name <- TableOfState.names(operator)
      table = new TableOfState(tools, batch, info.operatorId, name, operators)
      refusal = refusalOf(table)
      (family, columns) =
        if (refusal.isEmpty) (table.family, table.columns) else ("", new StructType)
    } yield new StateTable(
      info.operatorId,
      info.operatorName,
      name,
      family,
      columns,
      refusal,
      table.rows
    )

  private def refusalOf(table: TableOfState) =
    try table.unsupported
    catch {
      case e: OperatorStores.UnreadableSchema =>
        Some(s"the schema of its state cannot be read (${e.getCause.getMessage})")
    }
}
