package io.keyfold.map

/** Duty: the index of families whose keys are ordered: one tree, and its leaves whose rows have
  * left memory. Imports: `format.wire`, `map.cold`, `map.cursor`, `map.value`, `map.version`,
  * `mem`, `mem.arena`. Threads: a tree belongs to one thread at a time.
  */
package object ordered
