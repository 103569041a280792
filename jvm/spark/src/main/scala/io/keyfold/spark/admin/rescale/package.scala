package io.keyfold.spark.admin

/** Duty: changes the number of partitions of a stopped query's checkpoint. Imports: `errors`,
  * `format`, `model`, `rescale`, `spark.checkpoint`, `spark.conf`. Threads: one at a time; a
  * concurrent second run fails with an error.
  */
package object rescale
