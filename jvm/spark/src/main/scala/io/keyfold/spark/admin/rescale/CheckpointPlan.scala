package io.keyfold.spark.admin.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.rescale.StorePlan

/** What a rescale would do to a checkpoint.
  *
  * @param batch
  *   the rescale's own
  * @param from
  *   number of partitions now; 0 if not known
  * @param format
  *   Spark's checkpoint format: 2 if state has ids
  * @param resumes
  *   whether the batch was begun already, by this rescale, and not finished
  * @param refusals
  *   why it cannot be done; nothing is written then
  * @param warnings
  *   what to look at before
  */
final case class CheckpointPlan(
    location: String,
    batch: Long,
    from: Int,
    to: Int,
    format: Int,
    resumes: Boolean,
    operators: Seq[OperatorPlan],
    refusals: Seq[RescaleRefused],
    warnings: Seq[String]
) {
  def lastBatch: Long = batch - 1
  def stores: Seq[StorePlan] = operators.flatMap(_.stores)

  /** How many files of the old layout there are. */
  def files: Int = stores.flatMap(_.layers).flatMap(_.of).map(_.files.length).sum
}

/** A rescale that was made.
  *
  * @param planFile
  *   in the checkpoint's `keyfold` folder
  * @param references
  *   how many it has written
  * @param isMine
  *   whether this run has committed the batch, and not another beside it
  */
final case class Applied(plan: CheckpointPlan, planFile: String, references: Int, isMine: Boolean)

/** @param stores
  *   in the order in which the commit log has their ids
  */
final case class OperatorPlan(id: Long, name: String, stores: Seq[StorePlan])
