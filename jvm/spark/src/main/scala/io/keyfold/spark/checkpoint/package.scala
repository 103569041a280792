package io.keyfold.spark

/** Duty: what works on a checkpoint as a whole works with: its files, its logs, threads. Imports:
  * `io`, `rescale`, `sql.keyfold`. Threads: as each says.
  */
package object checkpoint
