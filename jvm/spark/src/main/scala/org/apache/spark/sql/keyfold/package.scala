package org.apache.spark.sql

/** Duty: all uses of Spark's private API, which is the only reason why the package is in Spark's
  * namespace. Imports: `errors`, `format`, `spark.partition`. Threads: no state.
  */
package object keyfold
