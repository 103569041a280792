package io.keyfold.spark

/** Duty: copies of checkpoints, whole and apart. Imports `rescale` of core and the logs of
  * `org.apache.spark.sql.keyfold`. Threads: the caller's and some of its own, on the driver.
  */
package object copy
