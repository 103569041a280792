package io.keyfold.map

/** Duty: rows that have left memory, in blocks on a local disk: sorted runs, and what leaves of
  * trees need. Imports: `errors`, `format.wire`, `map`, `map.hash`, `map.value`, `mem`,
  * `mem.arena`, `mem.page`. Threads: files any; a reader or writer of runs belongs to one thread at
  * a time.
  */
package object cold
