package org.apache.spark.sql.keyfold

/** What tests must know of Spark 4.2. */
object LineFacts {

  /** Fields of Spark's `StateStore` with the stores that are being maintained. */
  val maintained: Seq[String] = Seq("maintenancePartitions")

  /** Whether a query goes on under the checkpoint format that it has, whatever is set. */
  val keepsFormat = false

  /** The newest state format that a new join may have here. */
  val newestJoin = 4

  /** Whether schemas of transformWithState have the types of its keys, and not of the columns that
    * are grouped by.
    */
  val schemasHaveKeys = true
}
