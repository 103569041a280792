package io.keyfold.map

/** Duty: versions of rows that share what did not change: who may change or free what. Imports:
  * `errors`, `map.value`, `mem`, `model`. Threads: the map's lock guards the tree; a transaction's
  * own belong to its thread.
  */
package object version
