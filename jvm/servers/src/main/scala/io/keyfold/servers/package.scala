package io.keyfold

/** Servers that queries of tests read from, keep checkpoints on and run on.
  *
  * Imports: Hadoop and Kafka, and nothing of Keyfold. Threads: one reads commands; Hadoop's.
  */
package object servers
