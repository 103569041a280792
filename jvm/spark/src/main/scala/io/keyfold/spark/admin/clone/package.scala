package io.keyfold.spark.admin

/** Duty: copies a checkpoint as of one batch, once or again and again. Imports: `errors`, `format`,
  * `spark.admin.rescale`, `spark.checkpoint`, `spark.conf`. Threads: one at a time; the original
  * may be in use.
  */
package object clone
