package io.keyfold.spark.migrate

import org.apache.spark.sql.keyfold.CheckpointFiles.FileSize

/** What a migration does, or has done.
  *
  * @param batch
  *   the newest one committed, whose state is taken; -1 if there is none
  * @param provider
  *   class that keeps the state until then
  * @param refusals
  *   why it cannot be done, a sentence each
  */
final case class MigrationPlan(
    checkpoint: String,
    batch: Long,
    provider: String,
    partitions: Int,
    operators: Seq[MigratedOperator],
    refusals: Seq[String]
)

final case class MigratedOperator(id: Long, name: String, stores: Seq[String])

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
