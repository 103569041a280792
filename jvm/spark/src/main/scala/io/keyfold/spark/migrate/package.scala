package io.keyfold.spark

/** Duty: a checkpoint of another provider becomes Keyfold's. Imports the logs of
  * `org.apache.spark.sql.keyfold`. Threads: the caller's, on the driver.
  */
package object migrate
