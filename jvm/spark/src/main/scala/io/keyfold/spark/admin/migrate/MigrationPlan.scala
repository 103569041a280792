package io.keyfold.spark.admin.migrate

import io.keyfold.spark.checkpoint.CheckpointLogs

/** A migration, planned or done.
  *
  * @param lastBatch
  *   the newest committed batch, whose state is taken; -1 if there is none
  * @param provider
  *   class that has kept the state so far
  * @param refusals
  *   why it is refused, one sentence each
  */
final case class MigrationPlan(
    checkpoint: String,
    lastBatch: Long,
    provider: String,
    partitions: Int,
    operators: Seq[CheckpointLogs.Operator],
    refusals: Seq[String]
)
