package io.keyfold.spark

/** Duty: what Python asks of a checkpoint: plans and changes, as JSON. A package each for
  * `admin.rescale`, `admin.rollback`, `admin.clone`, `admin.migrate` and `admin.vacuum`. Imports:
  * `errors`, `format`, `rescale`, `spark.admin.clone`, `spark.admin.migrate`,
  * `spark.admin.rescale`, `spark.admin.rollback`, `spark.admin.vacuum`, `spark.checkpoint`,
  * `sql.keyfold`. Threads: a call each.
  */
package object admin
