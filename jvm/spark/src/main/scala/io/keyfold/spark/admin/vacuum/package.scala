package io.keyfold.spark.admin

/** Duty: deletes unreferenced files, and refuses files that a retained batch needs. Imports:
  * `errors`, `format`, `io`, `model`, `spark.checkpoint`, `store.file`. Threads: one at a time; the
  * query may be running.
  */
package object vacuum
