package io.keyfold.map

/** Duty: the map: its versions, views and transactions, and which index a row goes to. Bottom up:
  * `map.value` has the records, `map.version` decides which a transaction may change and when
  * replaced ones are freed, `map.hash` and `map.ordered` are the two indexes, `map.cursor` iterates
  * over them, `map.cold` has the rows that are not in memory. Imports: `errors`, `group`, `io`,
  * `map`, `map.cold`, `map.cursor`, `map.hash`, `map.ordered`, `map.value`, `map.version`, `mem`,
  * `mem.arena`, `mem.page`, `model`. Threads: see [[StateMap]].
  */
package object arena
