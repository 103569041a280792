package io.keyfold.store

/** Duty: merges deltas, so that loads read few files and no snapshot is needed for that. Imports:
  * `format`, `group`, `mem`, `model`, `store.file`. Threads: maintenance calls it, one thread at a
  * time for each store.
  */
package object merge
