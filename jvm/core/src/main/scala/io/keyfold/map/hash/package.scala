package io.keyfold.map

/** Duty: the index of families whose keys have no order: a trie for each key group. Imports:
  * `map.cursor`, `map.value`, `map.version`, `mem`, `mem.arena`. Threads: a trie belongs to one
  * thread at a time.
  */
package object hash
