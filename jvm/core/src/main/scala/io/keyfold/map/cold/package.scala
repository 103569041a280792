package io.keyfold.map

/** Duty: rows that have left memory, in sorted runs on a local disk. Imports: `errors`,
  * `format.wire`, `map.value`, `mem`, `mem.arena`, `mem.page`. Threads: files any; a reader or
  * writer of runs belongs to one thread at a time.
  */
package object cold
