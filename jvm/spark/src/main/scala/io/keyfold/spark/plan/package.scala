package io.keyfold.spark

/** Duty: reads and changes the plans of queries: what a query has that starts, what executors have
  * to know of its operators, and which operators and sinks run otherwise. Imports: `errors`,
  * `spark.conf`, `spark.partition`, `sql.keyfold`. Threads: no state.
  */
package object plan
