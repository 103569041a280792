package io.keyfold.spark.state

import io.keyfold.mem.arena.MemoryUse
import io.keyfold.model.VersionId
import org.apache.spark.sql.execution.streaming.state.StateStoreId

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
  * @param filesToLoad
  *   how many files a load would read when it is asked, as maintenance writes some after the
  *   commit; 0 if the version is not in memory
  */
private[spark] final case class StoreStatus(
    id: StateStoreId,
    run: String,
    version: VersionId,
    rows: Long,
    unplacedRows: Long,
    stateBytes: Long,
    memory: MemoryUse,
    commitMs: Long,
    filesToLoad: () => Int
)
