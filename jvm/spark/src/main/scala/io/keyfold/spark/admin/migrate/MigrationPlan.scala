package io.keyfold.spark.admin.migrate

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
