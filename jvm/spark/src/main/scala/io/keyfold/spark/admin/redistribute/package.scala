package io.keyfold.spark.admin

/** Duty: changes the number of subtasks of an operator in a stopped query's checkpoint. Imports:
  * `errors`, `format`, `spark.admin.rescale`, `spark.checkpoint`, `spark.conf`, `spark.rewrite`,
  * `sql.keyfold`. Threads: one at a time; a concurrent second run fails with an error.
  */
package object redistribute
