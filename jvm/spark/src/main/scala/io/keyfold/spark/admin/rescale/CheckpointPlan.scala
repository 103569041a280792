package io.keyfold.spark.admin.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.rescale.StorePlan

/** The rescale of a checkpoint, planned.
  *
  * @param batch
  *   the rescale's own, which it adds to the query: [[Rescaler]]; or the open batch before which it
  *   is, which the query has begun and not committed, and which stays so: [[OpenRescaler]]
  * @param isOpen
  *   whether it is the open batch
  * @param resumes
  *   whether this rescale was begun and not finished
  * @param number
  *   of the next plan before the batch, when the planner began to read: if it was used since, the
  *   state that was planned for is not the newest
  * @param from
  *   number of partitions now; 0 if not known
  * @param format
  *   Spark's checkpoint format: 2 if state has ids
  * @param refusals
  *   why it is refused; nothing is written then
  * @param warnings
  *   what to check first
  */
final case class CheckpointPlan(
    location: String,
    batch: Long,
    isOpen: Boolean = false,
    resumes: Boolean = false,
    number: Int = 0,
    from: Int = 0,
    to: Int,
    format: Int = 0,
    operators: Seq[OperatorPlan] = Nil,
    refusals: Seq[RescaleRefused] = Nil,
    warnings: Seq[String] = Nil
) {
  def lastBatch: Long = batch - 1
  def stores: Seq[StorePlan] = operators.flatMap(_.stores)

  /** Number of files of the old layout. */
  def files: Int = stores.flatMap(_.layers).flatMap(_.members).map(_.files.length).sum
}

/** @param stores
  *   in the order in which the commit log has their ids
  */
final case class OperatorPlan(id: Long, name: String, stores: Seq[StorePlan])
