package io.keyfold.spark.plan

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, MapInArrow}

/** An operator with state of its subtasks in the plan of a query.
  *
  * @param places
  *   the second column of the grouping key of each subtask
  * @param number
  *   of the operator among the plan's stateful ones, as Spark counts them
  * @param operators
  *   number of the plan's stateful operators
  */
final case class PlannedSubtasks(name: String, places: Seq[Int], number: Int, operators: Int)

object PlannedSubtasks {

  /** Of the column with packed rows, where they are dealt to subtasks. */
  private val Key = "keyfold.subtasks"

  /** One for each time that the plan runs an operator. */
  def in(plan: LogicalPlan): Seq[PlannedSubtasks] = {
    val stateful = plan.collect { case it if StartedQuery.isStatefulOperator(it) => it }
    for {
      (operator, number) <- stateful.zipWithIndex
      metadata <- inputs(operator).collect { case it: MapInArrow =>
        it.output.map(_.metadata)
      }.flatten
      if metadata.contains(Key)
    } yield {
      val said = metadata.getMetadata(Key)
      val places = said.getLongArray("places").toSeq.map(_.toInt)
      PlannedSubtasks(said.getString("operator"), places, number, stateful.length)
    }
  }

  /** What is between an operator and the stateful ones below. */
  private def inputs(operator: LogicalPlan): Seq[LogicalPlan] = operator.children
    .filterNot(StartedQuery.isStatefulOperator)
    .flatMap(it => it +: inputs(it))
}
