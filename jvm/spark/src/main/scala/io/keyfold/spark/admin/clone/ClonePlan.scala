package io.keyfold.spark.admin.clone

import org.apache.spark.sql.keyfold.CheckpointFiles.FileSize

/** What a copy of a checkpoint has.
  *
  * @param state
  *   files that hold the state
  * @param other
  *   of what Spark keeps, all but the logs and what is written anew
  */
final case class ClonePlan(
    from: String,
    to: String,
    batch: Long,
    state: Seq[FileSize],
    other: Seq[FileSize]
) {
  def stateBytes: Long = state.map(_.bytes).sum
}
