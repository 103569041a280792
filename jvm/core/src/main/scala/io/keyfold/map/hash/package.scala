package io.keyfold.map

/** Duty: the index of families whose keys have no order: a hash table for each key group, which
  * leads to the records of all versions. Imports: `errors`, `group`, `io`, `map.value`, `mem`,
  * `mem.arena`. Threads: see [[hash.HashTable]].
  */
package object hash
