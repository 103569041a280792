package io.keyfold.spark.admin.write

import java.util.UUID

import io.keyfold.errors.Invalid
import io.keyfold.spark.admin.clone.CheckpointClone
import io.keyfold.spark.checkpoint.{CheckpointFiles, CheckpointTools}
import org.apache.spark.sql.{DataFrame, SparkSession}

/** Makes the checkpoint of a query that has not run, which can then be given state: its first
  * batch, which has read nothing, is committed.
  *
  * Spark runs that batch over sources without rows, in a folder beside the target, so that schemas,
  * metadata and empty stores are its own. Then the entries of the logs are those of the query's
  * sources, and the folder is cloned: the commit log of the target comes last. A run that breaks
  * off leaves that folder.
  *
  * @param to
  *   the checkpoint; nothing may be there
  * @param watermarkMs
  *   that the query begins with, in milliseconds since 1970
  */
private[admin] final class Bootstrap(
    session: SparkSession,
    query: DataFrame,
    to: String,
    outputMode: String,
    watermarkMs: Long
) {
  private val target = new CheckpointFiles(to, session.sessionState.newHadoopConf())
  private val beside = s"${target.location}.bootstrap-${UUID.randomUUID}"

  /** @throws io.keyfold.errors.Invalid
    *   if the session has no Keyfold or no checkpoint format 2, the query has no state, or
    *   something is at the target
    */
  def run(): Unit = {
    val first = new FirstBatch(session, query, outputMode, beside)
    first.refusal
      .orElse(Option.unless(target.isEmpty)(s"${target.location} is not empty"))
      .foreach { why =>
        throw new Invalid(
          "KEYFOLD_WRITE_REFUSED",
          s"Cannot make the checkpoint ${target.location}: $why. Nothing was written there."
        )
      }
    try {
      first.run(watermarkMs)
      CheckpointTools.using(session, beside) { tools =>
        new CheckpointClone(tools, to, None, newQuery = true).run()
      }
      ()
    } finally first.delete()
  }
}
