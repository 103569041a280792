package io.keyfold.spark.start

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.redistribute.Redistributor
import io.keyfold.spark.checkpoint.{CheckpointTools, IfReadable}
import io.keyfold.spark.plan.PlannedSubtasks
import io.keyfold.spark.rewrite.SubtaskState
import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

/** Gives operators with state of their subtasks the parallelism with which a query starts. */
private[start] final class RedistributeAtStart(session: SparkSession) {
  import RedistributeAtStart._

  /** @throws io.keyfold.errors.Invalid
    *   if two operators have one name
    */
  def check(operators: Seq[PlannedSubtasks]): Unit =
    operators.groupBy(_.name).collectFirst { case (name, of) if of.lengthIs > 1 => name }.foreach {
      name =>
        throw new Invalid(
          "KEYFOLD_OPERATOR_NAME",
          s"The query would run operator '$name' with state of subtasks twice. If these are two " +
            "operators, pass name= to one of them. If the output of one is used twice, as in " +
            "out.filter(a).union(out.filter(b)), each use would have state of its own: use it " +
            "once, or write it in foreachBatch and filter the batch there. The query was not started."
        )
    }

  /** Without its name or in another place, an operator would begin with no state, and nobody would
    * look at the old one: Spark keeps state by the operator's number in the plan.
    *
    * @throws io.keyfold.errors.Invalid
    *   if the operators are not those of the checkpoint
    */
  def checkNames(last: LastBatch, operators: Seq[PlannedSubtasks]): Unit = {
    val all = IfReadable("the names of operators") {
      Some(SubtaskState.names(last.logs, last.batch))
    }.getOrElse(Nil)
    val kept = all.filter(_._2.nonEmpty)
    if (kept.nonEmpty && operators.nonEmpty) {
      val fits = kept.length == operators.length &&
        kept.zip(operators).forall { case ((_, names), operator) => names(operator.name) }
      if (!fits) throw otherOperators(last, kept.map(_._2), operators.map(_.name))
      // With another number of operators than the checkpoint has, Spark refuses the query.
      for (((number, _), it) <- kept.zip(operators))
        if (it.operators == all.length && it.number != number) throw otherPlace(last, it, number)
    }
  }

  private def otherOperators(last: LastBatch, kept: Seq[Set[String]], planned: Seq[String]) = {
    val names = kept.flatten
    val (condition, why) =
      if (names.sorted == planned.sorted)
        "KEYFOLD_OPERATOR_PLACE" -> (
          "Spark gives the state to the operator that is in the same place now: put the operators in " +
            "the order that they had, and leave each its name"
        )
      else if (kept.length == planned.length)
        "KEYFOLD_OPERATOR_NAME" -> (
          "State goes by the name of its operator, which is that of the function's class unless it is " +
            "given: pass the old name to the operator that had it"
        )
      else
        "KEYFOLD_OPERATOR_NAME" -> (
          "Operators can be neither added to a query nor taken out of it: give it those that it had, " +
            "or start with a new checkpoint location"
        )
    new Invalid(
      condition,
      s"The state of subtasks in ${last.logs.location} is of ${listed(names)}, in this order, and the " +
        s"query has ${listed(planned)}. $why. The query was not started."
    )
  }

  private def otherPlace(last: LastBatch, operator: PlannedSubtasks, number: Long) = new Invalid(
    "KEYFOLD_OPERATOR_PLACE",
    s"Operator '${operator.name}' is the stateful operator ${operator.number} of the query, counted " +
      s"from 0 beginning at the sink, and in ${last.logs.location} it is operator $number, whose state " +
      "Spark gives to the operator that is there now. Put the operators in the order that they had, " +
      "or start with a new checkpoint location. The query was not started."
  )

  private def listed(names: Seq[String]) = names.map(name => s"'$name'").mkString(", ")

  /** Does nothing if the state has the parallelism already, or cannot be read: the batch tells.
    *
    * @throws io.keyfold.errors.StoreError
    *   if it is refused; nothing of this operator is changed then
    */
  def run(location: String, operators: Seq[PlannedSubtasks]): Unit =
    for (operator <- operators) CheckpointTools.using(session, location) { tools =>
      val it = new Redistributor(tools, operator.name, operator.places, isStart = true)
      if (IfReadable("the number of subtasks")(Some(it.isDue)).contains(true)) {
        val done = it.run()
        log.info(
          s"Redistributed operator ${done.name} of ${done.checkpoint} from ${done.from} to ${done.to} " +
            s"subtasks, after batch ${done.lastBatch}"
        )
      }
    }
}

private object RedistributeAtStart {
  private val log = LoggerFactory.getLogger(classOf[RedistributeAtStart])
}
