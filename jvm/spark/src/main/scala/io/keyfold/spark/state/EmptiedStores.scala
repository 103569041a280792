package io.keyfold.spark.state

import org.apache.spark.sql.execution.streaming.state.StateStore

/** A provider that can write a version anew, with its column families and none of its rows. */
trait EmptiedStores {

  /** A store whose commit is another attempt at a version.
    *
    * @param id
    *   of the attempt in whose place it will be
    */
  def getStoreAgain(version: Long, id: String): StateStore

  /** A store whose commit is the version after this one. */
  def getStoreEmptied(version: Long, id: String): StateStore
}
