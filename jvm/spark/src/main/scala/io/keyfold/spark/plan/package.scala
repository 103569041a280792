package io.keyfold.spark

/** Duty: reads the plans of queries and of their batches, and replaces operators and sinks that
  * would not run with Keyfold. Imports: `errors`, `spark.conf`, `spark.partition`, `sql.keyfold`.
  * Threads: no state.
  */
package object plan
