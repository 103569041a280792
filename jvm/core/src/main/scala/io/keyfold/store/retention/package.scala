package io.keyfold.store

/** Duty: deletes the files that no retained version needs. Imports: `errors`, `format`, `io`,
  * `model`, `store.file`. Threads: maintenance calls it, one thread at a time.
  */
package object retention
