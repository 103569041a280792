package io.keyfold.spark.state

/** What a store was when a task had committed a version of it.
  *
  * @param run
  *   id of the query's run
  * @param rows
  *   those of Spark's internal column families left out
  * @param unplacedRows
  *   rows of column families that Spark does not place by the hash of a key
  * @param stateBytes
  *   of keys and values
  * @param memoryBytes
  *   off the heap
  * @param spilledBytes
  *   in local files
  * @param filesToLoad
  *   how many files a load would read by now, as maintenance writes some after the commit; 0 if the
  *   version is not in memory
  */
private[spark] final case class StoreStatus(
    run: String,
    operator: Long,
    partition: Int,
    store: String,
    version: Long,
    rows: Long,
    unplacedRows: Long,
    stateBytes: Long,
    memoryBytes: Long,
    spilledBytes: Long,
    commitMs: Long,
    filesToLoad: Int
)
