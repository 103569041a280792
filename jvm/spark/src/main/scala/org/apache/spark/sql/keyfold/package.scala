package org.apache.spark.sql

/** Duty: all uses of Spark's private API, which is the only reason why the package is in Spark's
  * namespace. It knows nothing of what Keyfold does with them. Imports: `errors`. Threads: no
  * state.
  */
package object keyfold
