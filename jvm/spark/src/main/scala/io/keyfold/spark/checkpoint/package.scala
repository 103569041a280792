package io.keyfold.spark

/** Duty: tools for operations on a whole checkpoint: its files, its logs, threads. Imports: `io`,
  * `rescale`, `sql.keyfold`. Threads: see each class.
  */
package object checkpoint
