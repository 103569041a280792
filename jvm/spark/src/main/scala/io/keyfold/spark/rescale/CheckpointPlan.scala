package io.keyfold.spark.rescale

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

/** A query that was taken to another batch, or may be.
  *
  * @param batch
  *   its last one now
  * @param from
  *   its last one before
  * @param aside
  *   folder of the checkpoint's `keyfold` folder that has what was newer; nothing: it was not done
  * @param files
  *   how many were moved, or would be
  */
final case class RolledBack(
    location: String,
    batch: Long,
    from: Long,
    aside: Option[String],
    files: Int
)

/** @param stores
  *   in the order in which the commit log has their ids
  */
final case class OperatorPlan(id: Long, name: String, stores: Seq[StorePlan])

/** Whether the query writes files with a log in their folder, which must have every batch. */
sealed trait SinkChoice

object SinkChoice {

  /** @param path
    *   empty: there is no file sink; null: not said
    */
  def of(path: String): SinkChoice = path match {
    case null => NotSaid
    case ""   => NoFileSink
    case path => Folder(path)
  }

  /** Nobody has said. */
  case object NotSaid extends SinkChoice
  case object NoFileSink extends SinkChoice
  final case class Folder(path: String) extends SinkChoice
}
