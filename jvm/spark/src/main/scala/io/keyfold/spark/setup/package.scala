package io.keyfold.spark

/** Duty: facts about the driver and executors, by which Python judges whether Keyfold is set up
  * rightly. Imports: `errors`, `spark`, `spark.conf`, `spark.state`, `sql.keyfold`. Threads: any.
  */
package object setup
