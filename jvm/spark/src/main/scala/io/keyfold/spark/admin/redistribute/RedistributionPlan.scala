package io.keyfold.spark.admin.redistribute

import io.keyfold.errors.RescaleRefused

/** The redistribution of an operator's state to another number of subtasks, planned or done.
  *
  * @param name
  *   of the operator, as the query gives it
  * @param lastBatch
  *   the last committed one, whose state is changed; -1 if there is none
  * @param from
  *   number of subtasks now; 0 if not known
  * @param states
  *   how each state is redistributed, by name
  * @param partitions
  *   number of partitions that are written; the others stay as they are
  * @param refusals
  *   why it is refused; nothing is written then
  */
final case class RedistributionPlan(
    checkpoint: String,
    name: String,
    operator: Option[Long],
    lastBatch: Long,
    from: Int,
    to: Int,
    states: Map[String, String],
    partitions: Int,
    refusals: Seq[RescaleRefused]
)
