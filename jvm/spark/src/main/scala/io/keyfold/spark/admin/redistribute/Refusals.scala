package io.keyfold.spark.admin.redistribute

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.admin.rescale.UnfinishedRescale
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, Command}
import io.keyfold.spark.conf.ProviderClass
import io.keyfold.spark.rewrite.SubtaskState
import org.apache.spark.sql.keyfold.SparkShim

/** Why the state of an operator's subtasks is not given to `to` of them. */
private[redistribute] final class Refusals(tools: CheckpointTools, name: String, to: Int) {
  import tools.logs

  /** What can be said without reading state. */
  def before(batch: Long): Seq[RescaleRefused] = {
    val provider = logs.providerOf(batch).getOrElse("none")
    Seq(
      Option.when(logs.isRunningHere)(
        refused(
          "KEYFOLD_RESCALE_RUNNING",
          "the query runs in this Spark application; stop it first"
        )
      ),
      Option.when(provider != ProviderClass.Keyfold)(
        refused("KEYFOLD_RESCALE_PROVIDER", s"the state was written by $provider")
      ),
      Option.when(!logs.lastBegun.exists(it => it == batch || it == batch + 1))(
        refused(
          "KEYFOLD_RESCALE_NO_BATCH",
          s"batch $batch was committed, and the offset log ends at ${logs.lastBegun.getOrElse("none")}"
        )
      ),
      new UnfinishedRescale(tools).refusal(batch),
      notReplaceable(batch).map(refused("KEYFOLD_REDISTRIBUTE_FORMAT", _))
    ).flatten
  }

  private def notReplaceable(batch: Long) =
    if (logs.formatOf(batch) == 1)
      Some(
        "the checkpoint has format 1, in which files have no ids. Start the query with the " +
          "parallelism that it had" + (
            if (SparkShim.continuesUnder(1, 2).contains(2))
              s" and ${CheckpointLogs.FormatKey}=2: after a batch it can be redistributed"
            else s", or with a new checkpoint and ${CheckpointLogs.FormatKey}=2"
          )
      )
    else
      Option.when(!logs.files.canReplace)(
        "the checkpoint file manager cannot replace a file in one step. Copy the checkpoint to a " +
          "file system that can"
      )

  def of(batch: Long, state: SubtaskState): Seq[RescaleRefused] = Seq(
    Option.when(to == state.parallelism)(
      refused("KEYFOLD_REDISTRIBUTE_PARALLELISM", s"the operator already has $to subtasks")
    ),
    Option.when(state.undeclared.nonEmpty)(
      refused(
        "KEYFOLD_REDISTRIBUTE_STATES",
        s"Spark's metadata of batch $batch do not have its states " +
          s"${state.undeclared.toSeq.sorted.mkString(", ")} as they are: they are of an attempt with " +
          s"other states, which failed. Start the query with parallelism=${state.parallelism} and " +
          "let it run one batch, with which Spark writes them anew"
      )
    )
  ).flatten

  def tooMany(most: Int): RescaleRefused = refused(
    "KEYFOLD_REDISTRIBUTE_PARALLELISM",
    s"the parallelism must be between 1 and the operator's max_parallelism, $most, not $to"
  )

  def noBatch: RescaleRefused = refused("KEYFOLD_RESCALE_NO_BATCH", "it has no committed batch")

  def unknown: RescaleRefused = refused(
    "KEYFOLD_REDISTRIBUTE_NO_OPERATOR",
    s"it has no state of subtasks of such an operator. `${Command.describe(logs.location)}` shows " +
      "operators with their states; one of them is called subtask_of_<name>"
  )

  def race(batch: Long): RescaleRefused = refused(
    "KEYFOLD_RESCALE_RACE",
    s"batch ${batch + 1} was begun or another command has changed batch $batch meanwhile. " +
      "Nothing was changed"
  )

  private def refused(condition: String, reason: String) = new RescaleRefused(
    condition,
    s"Cannot redistribute operator '$name' of ${logs.location}: $reason."
  )
}
