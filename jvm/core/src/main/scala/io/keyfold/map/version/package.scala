package io.keyfold.map

/** Duty: versions that share unchanged rows: which records and pages may be changed or freed.
  * Imports: `errors`, `map.cold`, `map.hash`, `map.value`, `mem`, `mem.arena`, `model`. Threads:
  * the map's lock guards the tree; the objects of a transaction belong to its thread.
  */
package object version
