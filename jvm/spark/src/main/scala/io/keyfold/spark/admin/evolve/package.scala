package io.keyfold.spark.admin

/** Duty: makes the checkpoint of a changed query, with the state of the query before. Imports:
  * `errors`, `spark.admin.clone`, `spark.admin.write`, `spark.checkpoint`, `spark.rewrite`,
  * `sql.keyfold`. Threads: one at a time.
  */
package object evolve
