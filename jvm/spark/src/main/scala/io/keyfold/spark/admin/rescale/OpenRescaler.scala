package io.keyfold.spark.admin.rescale

import io.keyfold.errors.RescaleRefused
import io.keyfold.format.RescalePlan
import io.keyfold.io.BlobStore
import org.apache.spark.sql.keyfold.{CheckpointFiles, CheckpointLogs, RewrittenLogs}

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
private[admin] final class OpenRescaler(
    rewritten: RewrittenLogs,
    logs: CheckpointLogs,
    blobs: BlobStore,
    files: CheckpointFiles,
    plan: CheckpointPlan,
    layout: NewLayout,
    progress: String => Unit
) {

  /** @throws io.keyfold.errors.RescaleRefused
    *   if the plan was refused, or another rescale was begun meanwhile
    */
  def run(): Applied = {
    if (plan.refusals.nonEmpty) throw plan.refusals.head
    if (logs.hasCommitted(plan.batch)) throw race(s"batch ${plan.batch} was committed meanwhile")
    val made = if (plan.resumes) resumed() else begun()
    if (!layout.isThere(made.plan)) layout.write(made.plan)
    progress(s"giving batch ${plan.batch}, which is open, ${plan.to} partitions")
    made.complete()
    Applied(plan, made.plan.name, made.plan.stores.map(_.references.length).sum, isMine = true)
  }

  private def resumed() = OpenPlan.ofRescale(plan.batch, blobs, files).getOrElse {
    throw race(s"the rescale before batch ${plan.batch} was ended meanwhile")
  }

  private def begun(): OpenPlan = {
    val stores = layout.newStores(plan.batch)
    val made = RescalePlan(
      plan.batch,
      RescalePlan.openId(plan.number),
      plan.from,
      plan.to,
      stores,
      rewritten.to(plan.from, plan.to, layout.idsOf(stores))
    )
    progress(s"writing plan ${made.name}")
    OpenPlan.create(made, files).getOrElse {
      throw race(
        s"another rescale or redistribution before batch ${plan.batch} was begun meanwhile"
      )
    }
  }

  private def race(reason: String) =
    new RescaleRefused("KEYFOLD_RESCALE_RACE", s"Cannot rescale: $reason. Nothing was changed.")
}
