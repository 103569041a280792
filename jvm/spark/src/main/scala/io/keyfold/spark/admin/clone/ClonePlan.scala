package io.keyfold.spark.admin.clone

import io.keyfold.format.RewrittenFile
import io.keyfold.spark.checkpoint.CheckpointFiles.FileSize

/** The files of a copy of a checkpoint.
  *
  * @param state
  *   files that hold the state
  * @param other
  *   Spark's files, except for the logs and files that are rewritten
  * @param log
  *   entries of the logs, as they were before anything else was looked at and as they are copied
  */
final case class ClonePlan(
    from: String,
    to: String,
    batch: Long,
    state: Seq[FileSize],
    other: Seq[FileSize],
    log: Seq[RewrittenFile]
) {
  def stateBytes: Long = state.map(_.bytes).sum
}
