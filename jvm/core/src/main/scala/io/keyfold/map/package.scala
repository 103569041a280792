package io.keyfold

/** Duty: the rows of one store in memory, by column family and key group, in several versions at
  * once: the contract of a map for the store. `map.arena` implements it. Imports: `errors`, `mem`,
  * `mem.arena`, `model`. Threads: one writer at a time; each pinned view may be read by one thread
  * meanwhile; see [[map.StateMap]].
  */
package object map
