package io.keyfold.spark

/** Duty: assigns rows to partitions, as Spark and Flink do. Imports: `group`, `model`. Threads: no
  * state.
  */
package object partition
