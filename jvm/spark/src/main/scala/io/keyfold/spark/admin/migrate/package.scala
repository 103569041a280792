package io.keyfold.spark.admin

/** Duty: the state of Spark's own providers becomes Keyfold's, and that can be given up. Imports:
  * `errors`, `format`, `spark.checkpoint`, `spark.conf`, `sql.keyfold`. Threads: one at a time.
  */
package object migrate
