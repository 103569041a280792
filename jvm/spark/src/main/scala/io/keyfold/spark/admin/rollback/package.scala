package io.keyfold.spark.admin

/** Duty: a stopped query goes back to an earlier batch, and that can be undone. Imports: `errors`,
  * `format`, `io`, `model`, `rescale`, `spark.conf`, `sql.keyfold`. Threads: one at a time.
  */
package object rollback
