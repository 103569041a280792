package io.keyfold.spark

/** Duty: what an application's stores and queries do, as gauges of Spark's metrics system and as a
  * tab of its UI. Imports: `mem.page`, `spark.state`, `sql.keyfold`. Threads: Spark's listener, RPC
  * and servlet threads on the driver, one thread of its own on each executor.
  */
package object metrics
