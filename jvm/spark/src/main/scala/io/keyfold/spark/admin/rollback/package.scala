package io.keyfold.spark.admin

/** Duty: rolls a stopped query back to an earlier batch, and undoes it. Imports: `errors`,
  * `format`, `model`, `rescale`, `spark.admin.rescale`, `spark.checkpoint`. Threads: one at a time.
  */
package object rollback
