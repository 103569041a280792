package io.keyfold.mem

/** Duty: the objects of one store, in pages of the pool. Imports: `errors`, `io`, `mem`,
  * `mem.page`. Threads: an arena belongs to one thread at a time; [[arena.Arena]] says what other
  * threads may read.
  */
package object arena
