package io.keyfold.spark

/** Duty: the operations on checkpoints that Python calls, with JSON results. Subpackages:
  * `admin.rescale`, `admin.redistribute`, `admin.rollback`, `admin.clone`, `admin.migrate`,
  * `admin.vacuum`, `admin.write` and `admin.evolve`. Imports: `errors`, `format`, `rescale`,
  * `spark.admin.clone`, `spark.admin.evolve`, `spark.admin.migrate`, `spark.admin.redistribute`,
  * `spark.admin.rescale`, `spark.admin.rollback`, `spark.admin.vacuum`, `spark.admin.write`,
  * `spark.checkpoint`. Threads: one per call.
  */
package object admin
