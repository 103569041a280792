package io.keyfold.spark.vacuum

import io.keyfold.spark.CheckpointTools
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.keyfold.CheckpointFiles
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{compact, render}

/** What Python calls: texts and numbers in, JSON out. Progress goes to the standard error stream.
  */
object VacuumApi {

  /** @param paths
    *   relative to the checkpoint, one a line
    * @param ageMs
    *   how long something must not have changed to be deleted
    * @param dryRun
    *   only say what would be deleted
    * @throws io.keyfold.errors.Invalid
    *   if one of them is in use; nothing is deleted then
    */
  def vacuum(
      session: SparkSession,
      checkpoint: String,
      paths: String,
      ageMs: Long,
      dryRun: Boolean
  ): String = CheckpointTools.using(session, checkpoint) { tools =>
    import tools.{blobs, logs}
    val files = new CheckpointFiles(logs.location, logs.hadoopConf)
    val now = System.currentTimeMillis()
    val waste = new Vacuum(logs, files, blobs, now, ageMs, CheckpointTools.progress)
      .run(paths.split('\n').toSeq.filter(_.nonEmpty), dryRun)
    compact(
      render(
        ("checkpoint" -> logs.location) ~ ("applied" -> !dryRun) ~ ("waste" -> waste.map { it =>
          ("path" -> it.path) ~ ("bytes" -> it.bytes) ~ ("old" -> it.isOld)
        })
      )
    )
  }
}
