package org.apache.spark.sql

/** Duty: all access to what Spark keeps private. Lives in Spark's name space for that reason alone.
  * Imports: `errors`. Threads: no state.
  */
package object keyfold
