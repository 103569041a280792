package io.keyfold.spark.admin

/** Duty: a checkpoint as of one batch, in a new place. Imports: `errors`, `format`, `rescale`,
  * `spark.checkpoint`, `spark.conf`, `sql.keyfold`. Threads: one at a time; the original may be in
  * use.
  */
package object clone
