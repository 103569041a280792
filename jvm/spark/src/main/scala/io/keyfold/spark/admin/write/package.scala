package io.keyfold.spark.admin

/** Duty: writes rows of a table into the state of a stopped query, or of one that has not run.
  * Imports: `errors`, `spark.admin.clone`, `spark.admin.rescale`, `spark.checkpoint`, `spark.conf`,
  * `spark.rewrite`, `sql.keyfold`. Threads: one at a time; of two at once, one fails with an error.
  */
package object write
