package io.keyfold

/** Duty: the versions of one store and how they become durable: load, transaction, commit, abort,
  * snapshot, retention. `store.file` has the files, `store.load` reads them, `store.retention`
  * deletes them. Imports: `errors`, `format`, `io`, `map`, `mem`, `mem.arena`, `model`,
  * `store.file`, `store.load`, `store.retention`. Threads: transactions, readers and maintenance
  * run concurrently; each transaction belongs to one thread at a time.
  */
package object store
