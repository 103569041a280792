package io.keyfold

/** Duty: what users name in Spark's settings: the provider, which hands Spark's calls on, and the
  * session extension. Imports: `errors`, `map.arena`, `model`, `spark.checkpoint`, `spark.conf`,
  * `spark.partition`, `spark.state`, `sql.keyfold`, `store`, `store.file`. Threads: Spark makes a
  * provider for each store of each partition, and calls it from tasks and from maintenance.
  */
package object spark
