package io.keyfold.spark.state

import java.util.concurrent.atomic.{AtomicLong, LongAdder}

import io.keyfold.mem.arena.MemoryUse
import io.keyfold.store.{StoreTxn, VersionedStore}
import io.keyfold.store.file.StoreCounters
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.keyfold.SparkShim

/** Keyfold's custom metrics. Counts cover the time since the store's last report, including
  * maintenance; sizes are current. All are per store, because Spark adds up the stores.
  */
object KeyfoldMetrics {
  private val counted = Seq[(StateStoreCustomMetric, StoreCounters => LongAdder)](
    sum("keyfoldLoads", "versions loaded from files") -> (_.loads),
    StateStoreCustomTimingMetric("keyfoldLoadMs", "Keyfold: time to load versions from files") ->
      (_.loadMs),
    sum("keyfoldRescaledLoads", "versions loaded from the files of another number of partitions") ->
      (_.rescaledLoads),
    sum("keyfoldMemoryHits", "versions found in memory") -> (_.memoryHits),
    sum(
      "keyfoldSnapshotFallbacks",
      "snapshots that could not be used and were replaced by older files"
    ) -> (_.snapshotFallbacks),
    sum("keyfoldDeltas", "delta files written") -> (_.deltas),
    size("keyfoldDeltaBytes", "bytes of delta files written") -> (_.deltaBytes),
    sum("keyfoldSnapshots", "snapshot files written") -> (_.snapshots),
    size("keyfoldSnapshotBytes", "bytes of snapshot files written") -> (_.snapshotBytes),
    sum("keyfoldFileRetries", "file operations retried after a temporary failure") -> (_.retries),
    sum("keyfoldFilesDeleted", "files deleted by retention") -> (_.filesDeleted)
  )
  private val stateBytes =
    currentSize("keyfoldStateBytes", "bytes of keys and values of the version")
  private val sized = Seq[(StateStoreCustomMetric, MemoryUse => Long)](
    currentSize("keyfoldOffHeapBytes", "bytes of memory held off the heap") -> (_.offHeap),
    currentSize("keyfoldSpilledBytes", "bytes held in mapped files, beyond the memory budget") ->
      (_.mapped),
    currentSize(
      "keyfoldFreeBytes",
      "bytes held, off the heap or mapped, that neither rows nor indexes use"
    ) -> (_.free)
  )

  /** These have the names and meanings of metrics of Spark's RocksDB provider. */
  private val internalKeys =
    currentCount("rocksdbNumInternalColFamiliesKeys", "rows of internal column families")
  private val externalFamilies =
    currentCount("rocksdbNumExternalColumnFamilies", "column families")
  private val internalFamilies =
    currentCount("rocksdbNumInternalColumnFamilies", "internal column families")
  private val forced = sum("forceSnapshotCount", "stores that had a forced snapshot")

  val custom: Seq[StateStoreCustomMetric] =
    counted.map(_._1) ++ sized.map(_._1) ++
      Seq(stateBytes, internalKeys, externalFamilies, internalFamilies, forced)

  private def sum(name: String, what: String) = StateStoreCustomSumMetric(name, s"Keyfold: $what")
  private def size(name: String, what: String) = StateStoreCustomSizeMetric(name, s"Keyfold: $what")
  private def currentCount(name: String, what: String) =
    SparkShim.currentCount(name, s"Keyfold: $what")
  private def currentSize(name: String, what: String) =
    SparkShim.currentSize(name, s"Keyfold: $what")
}

/** The metrics of one store. */
private[spark] final class KeyfoldMetrics(id: StateStoreId, store: VersionedStore) {
  import KeyfoldMetrics._

  /** Newest version known to have a durable snapshot; -1 if none. */
  val lastSnapshotVersion = new AtomicLong(-1)
  private var reported = Map.empty[StateStoreCustomMetric, Long]

  def of(txn: StoreTxn, forcedSnapshot: Boolean): StateStoreMetrics = {
    val memory = store.memory
    val families = txn.families
    val (internal, external) = families.partition(_.spec.internal)
    SparkShim.metrics(
      keys = external.map(_.keys).sum,
      bytes = memory.total,
      custom = sinceLastReport() ++ sized.map { case (metric, of) =>
        metric -> of(memory)
      } ++
        Seq(
          stateBytes -> families.map(_.bytes).sum,
          internalKeys -> internal.map(_.keys).sum,
          externalFamilies -> external.length.toLong,
          internalFamilies -> internal.length.toLong,
          forced -> (if (forcedSnapshot) 1L else 0L)
        ),
      id,
      snapshot = lastSnapshotVersion.get
    )
  }

  private def sinceLastReport(): Map[StateStoreCustomMetric, Long] = synchronized {
    val now = counted.map { case (metric, of) => metric -> of(store.counters).sum }.toMap
    val before = reported
    reported = now
    now.map { case (metric, total) => metric -> (total - before.getOrElse(metric, 0L)) }
  }
}
