package io.keyfold

/** Duty: the classes that users name in Spark's settings: the provider, which forwards Spark's
  * calls, the session extension, and the plugin. Imports: `errors`, `io`, `map.arena`, `model`,
  * `spark.checkpoint`, `spark.conf`, `spark.metrics`, `spark.partition`, `spark.plan`,
  * `spark.start`, `spark.state`, `sql.keyfold`, `store`, `store.file`. Threads: Spark creates a
  * provider for each store of each partition, and calls it from tasks and from maintenance.
  */
package object spark
