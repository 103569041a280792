package io.keyfold.spark.admin.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.PlanName
import io.keyfold.spark.checkpoint.{CheckpointTools, RewrittenLogs}

/** Runs a planned rescale before a batch that was begun and not committed. The batch keeps its
  * number and its input; it will run with the new number of partitions, from the same state:
  *
  *   1. the plan file, of which only one can be created: it holds the old and the new content of
  *      Spark's files
  *   1. the manifest and the references, of the version that the last committed batch has, under
  *      ids of their own
  *   1. Spark's files in the plan's order: each has its old or its new content
  *
  * Once the plan file exists, the rescale is to be finished or undone. A driver that still runs the
  * batch can commit it as long as the new one has not: one of them creates the entry in the commit
  * log. If it is the old one, the plan says so (`OpenPlan.isOvertaken`) and is undone.
  */
private[admin] final class OpenRescaler(tools: CheckpointTools, plan: CheckpointPlan) {
  import CheckpointTools.progress
  import tools.logs

  private val layout = new NewLayout(tools, plan)
  private val plans = new OpenPlans(tools, plan.batch)

  /** @throws io.keyfold.errors.RescaleRefused
    *   if another rescale was begun meanwhile
    */
  def run(): Unit = {
    if (logs.hasCommitted(plan.batch)) throw race(s"batch ${plan.batch} was committed meanwhile")
    val made = if (plan.resumes) resumed() else begun()
    // None is planned if the references are there and Spark's files name them.
    if (plan.stores.nonEmpty) layout.write(made.plan)
    progress(s"giving batch ${plan.batch}, which is open, ${plan.to} partitions")
    made.complete()
  }

  private def resumed() = plans.rescale.filter(_ => plans.nextNumber == plan.number).getOrElse {
    throw race(s"the rescale before batch ${plan.batch} was ended meanwhile")
  }

  private def begun(): OpenPlan = {
    val made = layout.newPlan(PlanName.open(plan.batch, plan.number).id)
    val logsOfSpark = new RewrittenLogs(logs, plan.lastBatch)
    progress(s"writing plan ${made.name}")
    plans
      .create(made.copy(files = logsOfSpark.to(plan.from, plan.to, layout.idsOf(made))))
      .getOrElse {
        throw race(
          s"another rescale or redistribution before batch ${plan.batch} was begun meanwhile"
        )
      }
  }

  private def race(reason: String) =
    new RescaleRefused("KEYFOLD_RESCALE_RACE", s"Cannot rescale: $reason. Nothing was changed.")
}
