package io.keyfold

/** Duty: the versions of one store and how they become durable: load, transaction, commit, abort,
  * snapshot, retention. `store.file` has the files, `store.load` reads them, `store.retention`
  * deletes them. Imports: `errors`, `format`, `group`, `io`, `map`, `mem`, `mem.arena`, `model`,
  * `store.file`, `store.load`, `store.retention`. Threads: one writer at a time, possibly another
  * thread at each call; readers and maintenance run concurrently.
  */
package object store
