package io.keyfold

/** Duty: the classes that users name in Spark's settings: the provider, which forwards Spark's
  * calls, and the session extension. Imports: `errors`, `io`, `map.arena`, `model`,
  * `spark.checkpoint`, `spark.conf`, `spark.partition`, `spark.plan`, `spark.start`, `spark.state`,
  * `sql.keyfold`, `store`, `store.file`. Threads: Spark creates a provider for each store of each
  * partition, and calls it from tasks and from maintenance.
  */
package object spark
