package io.keyfold.spark.admin.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.checkpoint.{CheckpointTools, Command}

/** Finds a rescale that was begun and is to be finished or undone before anything else is done with
  * the checkpoint.
  */
private[spark] final class UnfinishedRescale(tools: CheckpointTools) {
  import tools.logs

  /** What to do; None if there is none.
    *
    * @param last
    *   the last committed batch
    */
  def refusal(last: Long): Option[RescaleRefused] =
    (logs.lastBegun match {
      case Some(`last`)                     => overtaken(last)
      case Some(begun) if begun == last + 1 => open(begun).orElse(own(last))
      case _                                => None
    }).map { reason =>
      new RescaleRefused(
        "KEYFOLD_RESCALE_UNFINISHED",
        s"Cannot go on with ${logs.location}: $reason."
      )
    }

  /** A driver that did not know of a rescale before an open batch committed the batch. */
  def overtaken(last: Long): Option[String] =
    plansOf(last).rescale.filter(_.isOvertaken).map { open =>
      s"batch $last was committed with ${open.plan.from} partitions, by a driver that did not know " +
        s"of the rescale to ${open.plan.to} before it. What it committed counts: undo the rescale " +
        s"with `${Command.undoRescale(logs.location)}`"
    }

  /** A rescale before an open batch. */
  def open(begun: Long): Option[String] =
    plansOf(begun).rescale.filterNot(_.isComplete).map { open =>
      val (from, to) = (open.plan.from, open.plan.to)
      val undo = s"`${Command.undoRescale(logs.location)}`"
      val finish = s"`${Command.rescale(logs.location, to)}`"
      s"a rescale from $from to $to partitions before batch $begun, which is open, was " +
        (if (open.isUndone) s"not undone to the end: run $undo again"
         else s"begun and not finished: to finish it, run $finish; to undo it, run $undo")
    }

  /** A rescale that has a batch of its own. */
  def own(last: Long): Option[String] =
    for {
      from <- logs.partitions(last)
      to <- logs.partitions(last + 1)
      if from != to && plansOf(last + 1).hasOwn
    } yield s"a rescale from $from to $to partitions was begun as batch ${last + 1}, and not " +
      s"finished: to finish it, run `${Command.rescale(logs.location, to)}`; to give it up, " +
      s"run `${Command.rollback(logs.location, last)}`"

  private def plansOf(batch: Long) = new OpenPlans(tools, batch)
}
