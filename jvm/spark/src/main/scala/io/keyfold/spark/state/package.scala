package io.keyfold.spark

/** Duty: Spark's state stores on top of versions: column families, conversion of rows, metrics.
  * Imports: `errors`, `map`, `mem`, `mem.arena`, `mem.page`, `model`, `spark.checkpoint`,
  * `spark.conf`, `spark.encoding`, `spark.partition`, `spark.plan`, `sql.keyfold`, `store`,
  * `store.file`. Threads: a store belongs to its task; metrics and memory any.
  */
package object state
