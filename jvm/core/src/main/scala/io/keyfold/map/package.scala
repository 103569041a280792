package io.keyfold

/** Duty: the rows of one store in memory, by column family and key group, in several versions at
  * once: what a map promises to the store above. `map.arena` has the map itself. Imports: `mem`,
  * `model`. Threads: one writer at a time; pinned views may be read by any one thread each while
  * the writer goes on; see [[map.StateMap]].
  */
package object map
