package io.keyfold.spark.admin.write

import io.keyfold.spark.admin.rescale.UnfinishedRescale
import io.keyfold.spark.checkpoint.{CheckpointTools, Command}

/** Whether the last committed batch of a stopped query is all that there is of it: what builds on
  * its state would else pass over what has begun.
  */
private[admin] final class CommittedEnd(tools: CheckpointTools) {
  import tools.logs

  /** Why a batch is not, a sentence each. */
  def refusals(last: Long): Seq[String] = Seq(
    Option.when(logs.isRunningHere)("Its query is running; stop it first."),
    new UnfinishedRescale(tools).refusal(last).map(_.getMessage).orElse(otherEnd(last))
  ).flatten

  /** Whether the logs end at different batches. */
  private def otherEnd(last: Long): Option[String] = logs.lastBegun.collect {
    case begun if begun < last =>
      s"Batch $last was committed, and the offset log ends at batch $begun. " +
        s"`${Command.fsck(logs.location)}` says how the query goes on."
    case begun if begun > last && !(begun == last + 1 && logs.isWrite(begun)) =>
      s"Batch $last was committed, and the offset log ends at batch $begun. Let the query finish its " +
        s"batch; or, if it fails, drop the batch with `${Command.rollback(logs.location, last)}`, and with " +
        "--sink-path if it writes to files or a table: the query reads its input again after the write, " +
        "under another number, so that a foreachBatch which goes by numbers may write its rows again."
  }
}
