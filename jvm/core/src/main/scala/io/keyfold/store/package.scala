package io.keyfold

/** Duty: the versions of one store and what makes them durable: load, transaction, commit, abort,
  * snapshot, retention. Imports: `errors`, `format`, `group`, `io`, `map`, `mem`. Threads: one
  * writer at a time, which may be another thread from call to call; readers and maintenance run
  * beside it.
  */
package object store
