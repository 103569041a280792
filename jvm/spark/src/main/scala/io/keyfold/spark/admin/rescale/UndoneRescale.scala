package io.keyfold.spark.admin.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.spark.checkpoint.CheckpointTools

/** Undoes the last rescale before an open batch, or the last redistribution before the next one,
  * finished or not: Spark's files get their old content. The plan and the references stay until the
  * batch is committed.
  */
private[admin] final class UndoneRescale(tools: CheckpointTools) {
  import tools.{files, logs}

  /** @return
    *   the plan that is, or with `dryRun` would be, undone
    * @throws io.keyfold.errors.RescaleRefused
    *   if there is none, or the query has run since
    */
  def run(dryRun: Boolean): OpenPlan = {
    if (logs.isRunningHere) throw refused("the query runs in this Spark application; stop it first")
    val open = before.getOrElse {
      logs.lastBegun.flatMap(plansOf(_).all.find(_.isUndone)).foreach { undone =>
        throw refused(s"${undone.plan.name} is undone already, and there is none before it")
      }
      throw refused(
        "no batch is open that was rescaled, and no operator was redistributed before the next; " +
          "`keyfold rollback` goes back to the batch before a rescale that had a batch of its own"
      )
    }
    if (logs.hasCommitted(open.plan.name.batch) && !open.isOvertaken)
      throw refused(s"the query has run since: batch ${open.plan.name.batch} is committed")
    open.changedSince.foreach { path =>
      throw refused(s"the query or another command has run since: it has written $path")
    }
    if (dryRun) open
    else {
      open.attempted.foreach(files.delete)
      val undone = undo(open)
      for (later <- since(open)) {
        throw new RescaleRefused(
          "KEYFOLD_RESCALE_RACE",
          s"Cannot undo ${open.plan.name} of ${logs.location}: another command has made " +
            s"${later.plan.name} meanwhile. Run the undo again when that command has ended."
        )
      }
      undone
    }
  }

  private def undo(plan: OpenPlan) = {
    val undone = if (plan.isUndone) plan else plan.undone()
    undone.complete()
    undone
  }

  /** Undoes what redistributions have made of the last batch's state, which no batch has committed:
    * a rescale goes by what the batch left, and a start redistributes again.
    *
    * @param dryRun
    *   only says so
    * @return
    *   whether there are any
    */
  def redistributions(dryRun: Boolean): Boolean = {
    val made = logs.lastCommitted.toSeq.flatMap { last =>
      plansOf(last + 1).counting.takeWhile(_.isRedistribution)
    }
    if (made.nonEmpty) {
      val operators = made.flatMap(_.plan.stores).map(_.operator).distinct.sorted.mkString(", ")
      CheckpointTools.progress(
        s"the rescale ${if (dryRun) "will undo" else "undoes"} the redistribution of operator " +
          s"$operators, which no batch has run with; the next start redistributes again"
      )
    }
    // Each has what the one before it left.
    if (!dryRun) made.foreach(plan => if (plan.changedSince.isEmpty) undo(plan))
    made.nonEmpty
  }

  /** A plan that was made after another, which was the last. */
  private def since(open: OpenPlan) = plansOf(open.plan.name.batch).all
    .takeWhile(_.plan.name != open.plan.name)
    .find(!_.isUndone)

  /** The last change before the next batch, or a rescale before the last one that is overtaken. */
  private def before: Option[OpenPlan] = logs.lastCommitted
    .flatMap(last => plansOf(last + 1).counting.headOption)
    .orElse(logs.lastBegun.flatMap(plansOf(_).rescale))

  private def plansOf(batch: Long) = new OpenPlans(tools, batch)

  private def refused(reason: String) = new RescaleRefused(
    "KEYFOLD_RESCALE_UNDO",
    s"Cannot undo a rescale of ${logs.location}: $reason."
  )
}
