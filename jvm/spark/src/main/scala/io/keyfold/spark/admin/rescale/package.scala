package io.keyfold.spark.admin

/** Duty: a stopped query's checkpoint goes on with another number of partitions. Imports: `errors`,
  * `format`, `io`, `model`, `rescale`, `spark`, `spark.checkpoint`, `spark.conf`, `sql.keyfold`.
  * Threads: one at a time; a second one beside it loses and says so.
  */
package object rescale
