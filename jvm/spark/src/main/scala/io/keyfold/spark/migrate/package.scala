package io.keyfold.spark

/** Duty: a checkpoint of another provider becomes Keyfold's. Imports: `errors`, `format`, `spark`,
  * `spark.rescale`, `sql.keyfold`. Threads: the caller's, on the driver.
  */
package object migrate
