package io.keyfold.spark

/** Duty: the files of a checkpoint, by Spark's file managers or ours, what Spark's logs and
  * metadata in it say, and tools for operations on all of it. Imports: `errors`, `format`, `io`,
  * `model`, `rescale`, `spark.conf`, `sql.keyfold`. Threads: see each class.
  */
package object checkpoint
