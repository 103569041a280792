package io.keyfold.spark

/** Duty: which partition a row belongs to, as Spark and Flink have it. Imports: `group`, `model`.
  * Threads: no state.
  */
package object partition
