package io.keyfold

/** Duty: Spark's state store contract on one side, `core` on the other; no storage logic. Imports:
  * `errors`, `format.wire`, `group`, `io`, `map`, `map.arena`, `mem`, `model`, `rescale`,
  * `spark.migrate`, `sql.keyfold`, `store`, `store.file`. Threads: Spark's contract: a store
  * belongs to one task, maintenance has a thread of its own.
  */
package object spark
