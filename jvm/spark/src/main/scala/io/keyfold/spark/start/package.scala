package io.keyfold.spark

/** Duty: what happens when a query starts, before it reads its checkpoint. Imports: `errors`,
  * `spark.admin`, `spark.admin.redistribute`, `spark.admin.rescale`, `spark.admin.rollback`,
  * `spark.checkpoint`, `spark.conf`, `spark.plan`, `spark.rewrite`, `sql.keyfold`. Threads: those
  * that start queries.
  */
package object start
