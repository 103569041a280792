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
  *   what a load would read now: the last snapshot, merged deltas and deltas
  * @param timeMs
  *   of the commit, since 1970
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
    filesToLoad: Int,
    timeMs: Long
)
