package io.keyfold

/** Duty: Spark's state store contract on one side, `core` on the other; no storage logic. Imports
  * core and `org.apache.spark.sql.keyfold`. Threads: Spark's contract: a store belongs to one task,
  * maintenance has a thread of its own.
  */
package object spark
