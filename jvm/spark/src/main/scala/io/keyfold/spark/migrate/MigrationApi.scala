package io.keyfold.spark.migrate

import io.keyfold.spark.CheckpointTools
import io.keyfold.spark.rescale.SinkChoice
import org.apache.spark.sql.SparkSession
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

/** What Python calls: texts in, JSON out. Progress goes to the standard error stream. */
object MigrationApi {

  /** @param sinkPath
    *   folder that the query's file sink writes to; empty: it has no file sink; null: not said
    * @param dryRun
    *   only plan; `refusals` is empty if it can be done
    * @throws io.keyfold.errors.Invalid
    *   if it cannot be done; nothing is changed then
    */
  def migrate(
      session: SparkSession,
      checkpoint: String,
      sinkPath: String,
      dryRun: Boolean
  ): String = {
    val migration =
      new Migration(session, checkpoint, SinkChoice.of(sinkPath), CheckpointTools.progress)
    json(if (dryRun) migration.plan() else migration.apply(), !dryRun)
  }

  /** Gives a migration up. Arguments as for `migrate`.
    *
    * @throws io.keyfold.errors.Invalid
    *   if it cannot be done; nothing is changed then
    */
  def undo(session: SparkSession, checkpoint: String, sinkPath: String, dryRun: Boolean): String =
    CheckpointTools.using(session, checkpoint) { tools =>
      val undo = new MigrationUndo(tools, SinkChoice.of(sinkPath))
      json(if (dryRun) undo.plan() else undo.apply(), !dryRun)
    }

  private def json(plan: UndoPlan, applied: Boolean): String = compact(
    render(
      ("checkpoint" -> plan.checkpoint) ~ ("batch" -> plan.batch) ~ ("provider" -> plan.provider) ~
        ("files" -> plan.files.size) ~ ("bytes" -> plan.files.map(_.bytes).sum) ~
        ("refusals" -> plan.refusals) ~ ("applied" -> applied)
    )
  )

  private def json(plan: MigrationPlan, applied: Boolean): String = compact(
    render(
      ("checkpoint" -> plan.checkpoint) ~ ("lastBatch" -> plan.batch) ~
        ("provider" -> plan.provider) ~ ("partitions" -> plan.partitions) ~ ("applied" -> applied) ~
        ("operators" -> plan.operators.map { operator =>
          ("id" -> operator.id) ~ ("name" -> operator.name) ~ ("stores" -> operator.stores)
        }) ~ ("refusals" -> plan.refusals)
    )
  )
}
