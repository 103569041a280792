package io.keyfold

/** Duty: the versions of one store and what makes them durable: load, transaction, commit, abort,
  * snapshot, retention. `store.file` has its files, `store.load` reads them, `store.retention`
  * deletes them. Imports: `errors`, `format`, `io`, `map`, `mem`, `model`, `store.file`,
  * `store.load`, `store.retention`. Threads: one writer at a time, which may be another thread from
  * call to call; readers and maintenance run beside it.
  */
package object store
