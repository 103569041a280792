package io.keyfold.store

/** Duty: which files no version to be retained needs, and deleting them. Imports: `errors`,
  * `format`, `io`, `model`, `store.file`. Threads: maintenance calls it, one thread at a time.
  */
package object retention
