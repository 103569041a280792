package io.keyfold.spark

/** Duty: what a checkpoint has and nobody needs is deleted. Imports: `errors`, `format`, `io`,
  * `model`, `spark`, `sql.keyfold`. Threads: the caller's, on the driver.
  */
package object vacuum
