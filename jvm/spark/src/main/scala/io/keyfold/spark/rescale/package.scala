package io.keyfold.spark

/** Duty: changing the number of partitions of a stopped query: plan, apply, resume; what Python
  * calls is `RescaleApi`. Imports core's `rescale`, and Spark's logs through
  * `org.apache.spark.sql.keyfold.CheckpointLogs`. Threads: each object belongs to one.
  */
package object rescale
