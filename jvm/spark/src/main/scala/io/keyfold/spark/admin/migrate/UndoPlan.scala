package io.keyfold.spark.admin.migrate

import io.keyfold.spark.checkpoint.CheckpointFiles.FileSize

/** The undo of a migration, planned or done.
  *
  * @param batch
  *   the migration's own, which is removed from the logs; -1 if it was not begun
  * @param provider
  *   class that keeps the state afterwards
  * @param files
  *   state files that Keyfold wrote
  * @param refusals
  *   why it is refused, one sentence each
  */
final case class UndoPlan(
    checkpoint: String,
    batch: Long,
    provider: String,
    files: Seq[FileSize],
    refusals: Seq[String]
)
