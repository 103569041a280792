package io.keyfold.spark.admin.rescale

import java.util.UUID

import scala.util.control.NonFatal

import io.keyfold.errors.{MissingFile, RescaleRefused}
import io.keyfold.format.RescalePlan
import io.keyfold.spark.checkpoint.{CheckpointLogs, CheckpointTools, OperatorMetadata}
import org.slf4j.LoggerFactory

/** Runs a planned rescale that has a batch of its own. Before the last step the checkpoint runs as
  * before, or fails with a message that says what to do; after it the checkpoint runs with the new
  * number of partitions:
  *
  *   1. the plan file, which keeps old files from being deleted
  *   1. under checkpoint format v2 the manifest and the references, under fresh ids: nothing refers
  *      to them yet
  *   1. the entry of the rescale's batch in the offset log; the run that creates it wins
  *   1. under checkpoint format v1 the manifest and the references: their names are fixed, so not
  *      earlier
  *   1. operator metadata
  *   1. the entry in the commit log, which names the references
  *
  * A rescale that failed after its batch was begun is resumed; one that failed before starts over,
  * and its files are removed.
  */
private[admin] final class Rescaler(tools: CheckpointTools, plan: CheckpointPlan) {
  import CheckpointTools.progress
  import Rescaler._
  import tools.{blobs, logs}

  private val layout = new NewLayout(tools, plan)
  import layout.usesIds

  /** @throws io.keyfold.errors.RescaleRefused
    *   if the batch was begun by another run or the query
    */
  def run(): Unit = {
    val made = if (plan.resumes) resumed() else begun()
    checkState()
    progress(s"committing batch ${plan.batch}")
    new OperatorMetadata(logs).rescale(plan.batch, plan.lastBatch, plan.from, plan.to)
    logs.commit(plan.batch, plan.lastBatch, Option.when(usesIds)(layout.idsOf(made)))
    tidy()
  }

  private def begun(): RescalePlan = {
    val made = layout.newPlan(UUID.randomUUID.toString)
    write(made)
    if (usesIds) layout.write(made)
    decide(made)
    if (!usesIds) layout.write(made)
    made
  }

  /** A concurrent run with the same number of partitions has the same goal. */
  private def decide(made: RescalePlan): Unit = {
    progress(s"beginning batch ${plan.batch} with ${plan.to} partitions")
    val settings = Map(CheckpointLogs.PartitionsKey -> plan.to.toString)
    val isMine =
      try logs.begin(plan.batch, plan.lastBatch, settings)
      catch {
        case e: MissingFile =>
          discard(made)
          throw e
      }
    if (!isMine) {
      val found = logs.partitions(plan.batch)
      if (!found.contains(plan.to)) {
        discard(made)
        throw new RescaleRefused(
          "KEYFOLD_RESCALE_RACE",
          s"Cannot rescale: batch ${plan.batch} was begun meanwhile with ${found.getOrElse("?")} " +
            "partitions, by the query or by another rescale. Nothing was changed."
        )
      }
    }
  }

  /** A redistribution of an operator's subtasks may have replaced the state that was planned for,
    * until the batch was begun. (Whoever begins it later looks for that: `LastCommit.change`.)
    */
  private def checkState(): Unit =
    if (new OpenPlans(tools, plan.batch).nextNumber != plan.number)
      throw new RescaleRefused(
        "KEYFOLD_RESCALE_RACE",
        "Cannot rescale: an operator was redistributed meanwhile. To finish the rescale, which has " +
          s"begun batch ${plan.batch}, run it again; to give it up, roll back to batch " +
          s"${plan.lastBatch}. No state was changed."
      )

  /** With ids it writes references of its own: those of a run that broke off may be of state that
    * was redistributed before that run had begun the batch.
    */
  private def resumed(): RescalePlan = {
    progress(s"finishing batch ${plan.batch}, which was started earlier")
    val earlier = if (usesIds) None else plans().find(_.to == plan.to)
    val made = layout.newPlan(earlier.fold(UUID.randomUUID.toString)(_.name.id))
    write(made)
    layout.write(made)
    made
  }

  private def write(made: RescalePlan): Unit = {
    progress(s"writing plan ${made.name}")
    RescalePlan.write(blobs, made)
  }

  /** Removes the files of other attempts at the batch, whose plans are not the committed one. */
  private def tidy(): Unit = {
    val committed = logs.ids(plan.batch).map(_.values.flatten.flatten.toSet)
    def isGood(other: RescalePlan) = other.to == plan.to &&
      committed.forall(ids =>
        other.stores.flatMap(_.references).forall(p => ids(RescalePlan.versionOf(p).id))
      )
    // Without the ids each plan would seem good, and all but one be discarded.
    if (!usesIds || committed.nonEmpty)
      try {
        val (good, bad) = plans().partition(isGood)
        (bad ++ good.drop(1)).foreach(discard)
      } catch {
        case NonFatal(e) =>
          log.warn(
            s"Cannot delete files that other attempts at batch ${plan.batch} left; the " +
              "query will",
            e
          )
      }
  }

  /** Without ids, all plans of a batch have references of the same names, which may need this
    * plan's manifest. So both stay until the committed plan is settled.
    */
  private def discard(made: RescalePlan): Unit = {
    if (usesIds) {
      blobs.delete(made.name.manifest)
      made.stores.flatMap(_.references).foreach(blobs.delete)
    }
    blobs.delete(made.name.path)
  }

  /** Plans of the rescale's batch, by name. */
  private def plans(): Seq[RescalePlan] =
    new OpenPlans(tools, plan.batch).names.filterNot(_.isOpen).map(RescalePlan.read(blobs, _))
}

private[admin] object Rescaler {
  private val log = LoggerFactory.getLogger(classOf[Rescaler])
}
