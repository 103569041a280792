package io.keyfold.spark.admin

/** Duty: writes rows of a table into the state of a stopped query. Imports: `errors`,
  * `spark.admin.rescale`, `spark.checkpoint`, `spark.conf`, `spark.rewrite`. Threads: one at a
  * time; of two at once, one fails with an error.
  */
package object write
