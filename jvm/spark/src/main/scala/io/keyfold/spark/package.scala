package io.keyfold

/** Duty: Spark's state store contract on one side, `core` on the other; no storage logic. Imports:
  * `errors`, `format`, `group`, `io`, `map`, `mem`, `rescale`, `spark.migrate`, `sql.keyfold`,
  * `store`. Threads: Spark's contract: a store belongs to one task, maintenance has a thread of its
  * own.
  */
package object spark
