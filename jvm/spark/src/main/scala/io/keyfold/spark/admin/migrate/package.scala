package io.keyfold.spark.admin

/** Duty: migrates state from Spark's own providers to Keyfold, and undoes it. Imports: `errors`,
  * `format`, `spark.checkpoint`, `spark.conf`, `spark.rewrite`. Threads: one at a time.
  */
package object migrate
