package io.keyfold.spark

/** Duty: the operations on checkpoints that Python calls, with JSON results. Subpackages:
  * `admin.rescale`, `admin.redistribute`, `admin.rollback`, `admin.clone`, `admin.migrate`,
  * `admin.vacuum` and `admin.write`. Imports: `errors`, `format`, `rescale`, `spark.admin.clone`,
  * `spark.admin.migrate`, `spark.admin.redistribute`, `spark.admin.rescale`,
  * `spark.admin.rollback`, `spark.admin.vacuum`, `spark.admin.write`, `spark.checkpoint`. Threads:
  * one per call.
  */
package object admin
