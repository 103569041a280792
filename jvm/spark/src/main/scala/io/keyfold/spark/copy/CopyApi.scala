package io.keyfold.spark.copy

import io.keyfold.errors.Invalid
import io.keyfold.spark.CheckpointTools
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.CheckpointLogs
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

/** What Python calls: texts and numbers in, JSON out. Progress goes to the standard error stream.
  */
object CopyApi {
  private val SavepointName = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"

  /** Copies a checkpoint, as that of a new query.
    *
    * @param batch
    *   negative: the newest that is committed
    * @param dryRun
    *   only say what would be copied
    */
  def copy(
      session: SparkSession,
      checkpoint: String,
      to: String,
      batch: Long,
      dryRun: Boolean
  ): String = copy(session, checkpoint, to, batch, dryRun, newQuery = true)

  /** Copies a checkpoint, as that of the same query, to where its savepoints are. */
  def savepoint(session: SparkSession, checkpoint: String, name: String): String = {
    if (!name.matches(SavepointName)) {
      throw new Invalid(
        "KEYFOLD_INVALID_ARGUMENT",
        s"Invalid name of a savepoint: '$name'; it takes letters, digits, dot, dash and underscore"
      )
    }
    val location = new CheckpointLogs(session, checkpoint).location
    copy(
      session,
      checkpoint,
      s"$location/keyfold/savepoints/$name",
      -1,
      dryRun = false,
      newQuery = false
    )
  }

  private def copy(
      session: SparkSession,
      checkpoint: String,
      to: String,
      batch: Long,
      dryRun: Boolean,
      newQuery: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    val it = new CheckpointCopy(tools, to, Option.when(batch >= 0)(batch), newQuery)
    json(if (dryRun) it.plan() else it.run(), !dryRun)
  }

  private def json(plan: CopyPlan, copied: Boolean): String = compact(
    render(
      ("from" -> plan.from) ~ ("to" -> plan.to) ~ ("batch" -> plan.batch) ~ ("applied" -> copied) ~
        ("files" -> (plan.state.size + plan.other.size)) ~
        ("bytes" -> (plan.stateBytes + plan.other.map(_.bytes).sum))
    )
  )
}
