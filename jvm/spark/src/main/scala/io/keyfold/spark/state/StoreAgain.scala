package io.keyfold.spark.state

import org.apache.spark.sql.execution.streaming.state.StateStore

/** A provider that can write a version again, with other rows. */
trait StoreAgain {

  /** A store without rows, whose commit is another attempt at a version.
    *
    * @param id
    *   of the attempt in whose place it will be
    */
  def getStoreAgain(version: Long, id: String): StateStore
}
