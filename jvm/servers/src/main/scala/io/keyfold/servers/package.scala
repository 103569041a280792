package io.keyfold

/** Servers that tests keep checkpoints on.
  *
  * Imports: Hadoop, and nothing of Keyfold. Threads: one reads commands; Hadoop's.
  */
package object servers
