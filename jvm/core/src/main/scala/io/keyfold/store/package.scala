package io.keyfold

/** Duty: the versions of one store and how they become durable: load, transaction, commit, abort,
  * snapshot, merge, retention. `store.file` has the files, `store.load` reads them, `store.merge`
  * merges them, `store.retention` deletes them. Imports: `errors`, `format`, `io`, `map`, `mem`,
  * `mem.arena`, `model`, `store.file`, `store.load`, `store.merge`, `store.retention`. Threads:
  * transactions, readers and maintenance run concurrently; each transaction belongs to one thread
  * at a time.
  */
package object store
