package io.keyfold.map

/** Duty: the map: its versions, views and transactions, and which index a row goes to. From the
  * ground up: `map.value` has records, `map.version` which of them a transaction may change and
  * what becomes of those it replaces, `map.hash` and `map.ordered` the two indexes, `map.cursor`
  * the way through them. Imports: `errors`, `group`, `map`, `map.cursor`, `map.hash`,
  * `map.ordered`, `map.value`, `map.version`, `mem`, `model`. Threads: as of [[StateMap]].
  */
package object arena
