package io.keyfold.store

/** Duty: a version from its files: which are needed, and their entries into a map. Imports:
  * `errors`, `format`, `group`, `map`, `mem`, `model`, `store.file`. Threads: a load belongs to one
  * thread.
  */
package object load
