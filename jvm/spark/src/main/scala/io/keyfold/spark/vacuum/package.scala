package io.keyfold.spark

/** Duty: what a checkpoint has and nobody needs is deleted. Imports the logs of
  * `org.apache.spark.sql.keyfold`. Threads: the caller's, on the driver.
  */
package object vacuum
