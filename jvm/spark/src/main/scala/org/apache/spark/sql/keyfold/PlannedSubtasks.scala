package org.apache.spark.sql.keyfold

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, MapInArrow}

/** An operator with state of its subtasks in the plan of a query.
  *
  * @param places
  *   the second column of the grouping key of each subtask
  */
final case class PlannedSubtasks(name: String, places: Seq[Int])

object PlannedSubtasks {

  /** Of the column with packed rows, where they are dealt to subtasks. */
  private val Key = "keyfold.subtasks"

  /** One for each time that the plan runs an operator. */
  def in(plan: LogicalPlan): Seq[PlannedSubtasks] = plan.collect { case it: MapInArrow =>
    it.output.map(_.metadata).filter(_.contains(Key)).map { metadata =>
      val said = metadata.getMetadata(Key)
      PlannedSubtasks(said.getString("operator"), said.getLongArray("places").toSeq.map(_.toInt))
    }
  }.flatten
}
