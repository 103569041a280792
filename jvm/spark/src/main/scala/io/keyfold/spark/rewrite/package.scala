package io.keyfold.spark

/** Duty: reads and writes the state of a batch that was committed, by the stores' providers, in
  * tasks of Keyfold's own. Imports: `errors`, `format`, `group`, `model`, `spark.checkpoint`,
  * `spark.partition`, `spark.plan`, `spark.state`, `sql.keyfold`, `store.file`. Threads: one at a
  * time on the driver; tasks share nothing.
  */
package object rewrite
