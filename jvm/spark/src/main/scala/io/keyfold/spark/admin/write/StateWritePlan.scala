package io.keyfold.spark.admin.write

/** A write of rows into a table of state, planned or done.
  *
  * @param lastBatch
  *   the newest committed batch, whose state is taken; -1 if there is none
  * @param warnings
  *   what to check before it, a sentence each
  * @param refusals
  *   why it is refused, one sentence each
  * @param put
  *   rows that were put; None: it was not done
  * @param deleted
  *   rows that were there, under keys that have none any more; None: it was not done, or all other
  *   rows of the table were deleted
  */
final case class StateWritePlan(
    checkpoint: String,
    operator: Long,
    table: String,
    lastBatch: Long,
    warnings: Seq[String],
    refusals: Seq[String],
    put: Option[Long] = None,
    deleted: Option[Long] = None
)
