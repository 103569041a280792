package io.keyfold.spark.rescale

import io.keyfold.spark.CheckpointTools
import org.apache.spark.sql.SparkSession

/** What Python calls: texts and numbers in, JSON out. Progress goes to the standard error stream.
  */
object RescaleApi {

  /** Plans the change of a stopped query to `to` partitions; writes nothing.
    *
    * @param checkpoint
    *   the query's checkpoint location
    * @param sinkPath
    *   folder that the query's file sink writes to; empty: it has no file sink; null: not said
    * @return
    *   JSON; `refusals` is empty if it can be done
    */
  def plan(session: SparkSession, checkpoint: String, to: Int, sinkPath: String): String =
    RescaleJson.of(planOf(session, checkpoint, to, SinkChoice.of(sinkPath)))

  /** Plans and makes it, or finishes one that was begun.
    *
    * @return
    *   JSON: the plan, with what was done
    * @throws io.keyfold.errors.RescaleRefused
    *   if it cannot be done; nothing is changed then
    */
  def apply(session: SparkSession, checkpoint: String, to: Int, sinkPath: String): String = {
    val start = System.nanoTime
    val applied = applyTo(session, checkpoint, to, SinkChoice.of(sinkPath))
    RescaleJson.of(applied, (System.nanoTime - start) / 1000000)
  }

  /** Takes a stopped query back to a batch that its checkpoint still has; what is newer is set
    * aside.
    *
    * @param dryRun
    *   only say what would be set aside
    * @return
    *   JSON; `aside` names the folder of what was set aside
    * @throws io.keyfold.errors.RescaleRefused
    *   if it cannot be done; nothing is changed then
    */
  def rollback(session: SparkSession, checkpoint: String, batch: Long, dryRun: Boolean): String =
    RescaleJson.of(CheckpointTools.using(session, checkpoint) { it =>
      new Rollback(it.logs, it.blobs, it.parallel, CheckpointTools.progress).to(batch, dryRun)
    })

  /** Puts back what a rollback has set aside, if the query has not run since.
    *
    * @param aside
    *   as `rollback` has returned it
    * @return
    *   JSON, as of `rollback`
    */
  def undoRollback(session: SparkSession, checkpoint: String, aside: String): String =
    RescaleJson.of(CheckpointTools.using(session, checkpoint) { it =>
      new Rollback(it.logs, it.blobs, it.parallel, CheckpointTools.progress).undo(aside)
    })

  private[spark] def planOf(
      session: SparkSession,
      checkpoint: String,
      to: Int,
      sink: SinkChoice
  ): CheckpointPlan = CheckpointTools.using(session, checkpoint)(planWith(_, to, sink))

  private[spark] def applyTo(
      session: SparkSession,
      checkpoint: String,
      to: Int,
      sink: SinkChoice
  ): Applied = CheckpointTools.using(session, checkpoint) { it =>
    val plan = planWith(it, to, sink)
    new Rescaler(it.logs, it.blobs, plan, sink, it.parallel, CheckpointTools.progress).run()
  }

  private def planWith(it: CheckpointTools, to: Int, sink: SinkChoice) =
    new RescalePlanner(it.logs, it.blobs, to, sink, it.parallel, CheckpointTools.progress).plan()
}
