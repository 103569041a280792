package io.keyfold.spark.admin.migrate

import org.apache.spark.sql.keyfold.CheckpointFiles.FileSize

/** What giving a migration up deletes, or has deleted.
  *
  * @param batch
  *   the migration's own, which leaves the logs; -1 if it had not begun it
  * @param provider
  *   class that keeps the state from then on
  * @param files
  *   of the state that Keyfold has written
  * @param refusals
  *   why it cannot be done, a sentence each
  */
final case class UndoPlan(
    checkpoint: String,
    batch: Long,
    provider: String,
    files: Seq[FileSize],
    refusals: Seq[String]
)
