package io.keyfold.spark

/** Duty: copies of checkpoints, whole and apart. Imports: `errors`, `format`, `rescale`, `spark`,
  * `sql.keyfold`. Threads: the caller's and some of its own, on the driver.
  */
package object copy
